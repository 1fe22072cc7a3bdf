#pragma once
// Other programs' JSON, parsed with its depth and size held, and read member by member: whatever
// is not as demanded throws ImportError naming the path ("$.end.sum_sent.bytes").

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::datasets {

// A view into a JsonDocument, which must outlive it.
class JsonValue {
  public:
    JsonValue(const nlohmann::json& value, const std::string& name, std::string path);

    JsonValue at(const std::string& key) const;  // throws unless an object that has it
    std::optional<JsonValue> find(const std::string& key) const;     // likewise, but may lack it
    std::vector<JsonValue> items() const;                            // throws unless an array
    std::vector<std::pair<std::string, JsonValue>> members() const;  // throws unless an object
    bool is_number() const;

    double not_negative() const;  // a finite number from 0
    double positive() const;      // above 0
    std::int64_t whole() const;   // 0 to 2^63 - 1
    bool boolean() const;
    std::string text() const;  // up to 4096 bytes without control characters, not empty

    [[noreturn]] void fail(const std::string& why) const;

  private:
    const nlohmann::json* value_;
    const std::string* name_;
    std::string path_;
};

class JsonDocument {
  public:
    // Throws ImportError: no JSON (with line and column), a number no double can hold, a key twice,
    // nested or large past ForeignCaps. name is for messages.
    JsonDocument(std::string_view text, std::string name);
    ~JsonDocument();
    JsonDocument(const JsonDocument&) = delete;
    JsonDocument& operator=(const JsonDocument&) = delete;
    JsonValue root() const;

  private:
    std::string name_;
    std::unique_ptr<nlohmann::json> root_;
};

}  // namespace vsb::datasets
