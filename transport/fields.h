#pragma once
// key=value fields, the currency of control lines and of results. Keys: a-z, 0-9, '_' and '.',
// starting with a letter; unique.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vsb::transport {

class Fields {
  public:
    // Throws std::invalid_argument for a malformed or a repeated key.
    void add(std::string_view key, std::string_view value);
    void add(std::string_view key, std::uint64_t value);

    const std::string* find(std::string_view key) const;
    // Throw std::invalid_argument naming the key when it is missing or no whole number.
    const std::string& text(std::string_view key) const;
    std::uint64_t number(std::string_view key) const;
    double real(std::string_view key) const;

    const std::vector<std::pair<std::string, std::string>>& all() const { return fields_; }

  private:
    std::vector<std::pair<std::string, std::string>> fields_;
};

// Control characters, backslash and bytes above 0x7e become \xNN, so that a value is one line of
// printable ASCII.
std::string escape(std::string_view text);

}  // namespace vsb::transport
