#pragma once
// What a tool measured, as lines `key=value` or as one JSON object, and the strict reader of the
// lines. The last line is always `status=ok` or `status=failed`: a text cut short has no status and
// is refused. A failed trial has a `reason` and no figures.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fields.h"

namespace vsb::transport {

class Results {
  public:
    void text(std::string_view key, std::string_view value);
    void count(std::string_view key, std::uint64_t value);
    void real(std::string_view key, double value);  // finite; throws std::invalid_argument else
    // A figure that does not exist: the line is KEY_absent=REASON, in JSON KEY is null as well.
    void absent(std::string_view key, std::string_view reason);

    std::string lines() const;  // ends with status=ok
    std::string json() const;   // one object and a newline, "status": "ok" last

  private:
    enum class Type : std::uint8_t { text, number, absent };
    void add(std::string_view key, std::string_view value, Type type);
    Fields fields_;
    std::vector<Type> types_;
};

std::string failed_lines(std::string_view reason);
std::string failed_json(std::string_view reason);

struct ReadResults {
    bool ok = false;
    std::string reason;  // of a failed trial
    Fields fields;       // without status and reason
};

// Reads lines(), or failed_lines(). Throws std::invalid_argument naming the line: no '=', a
// malformed or repeated key, a line over 1 MiB or more than 1000 of them, anything after the
// status, no status.
ReadResults read_results(std::string_view text);

}  // namespace vsb::transport
