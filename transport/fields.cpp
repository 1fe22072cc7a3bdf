#include "transport/fields.h"

#include <charconv>
#include <cmath>
#include <stdexcept>

#include "transport/number.h"

namespace vsb::transport {
namespace {

bool is_letter(char c) {
    return c >= 'a' && c <= 'z';
}

bool is_key(std::string_view key) {
    if (key.empty() || key.size() > 64 || !is_letter(key.front())) return false;
    for (const char c : key) {
        if (!is_letter(c) && !(c >= '0' && c <= '9') && c != '_' && c != '.') return false;
    }
    return true;
}

[[noreturn]] void reject(std::string_view key, const std::string& why) {
    throw std::invalid_argument(escape(key.substr(0, 64)) + ": " + why);
}

}  // namespace

void Fields::add(std::string_view key, std::string_view value) {
    if (!is_key(key)) reject(key, "is no key");
    if (find(key) != nullptr) reject(key, "is given twice");
    fields_.emplace_back(key, value);
}

void Fields::add(std::string_view key, std::uint64_t value) {
    add(key, std::to_string(value));
}

const std::string* Fields::find(std::string_view key) const {
    for (const auto& [name, value] : fields_) {
        if (name == key) return &value;
    }
    return nullptr;
}

const std::string& Fields::text(std::string_view key) const {
    const std::string* value = find(key);
    if (value == nullptr) reject(key, "is missing");
    return *value;
}

std::uint64_t Fields::number(std::string_view key) const {
    const std::string& value = text(key);
    try {
        return parse_number(value);
    } catch (const std::invalid_argument& error) {
        reject(key, error.what());
    }
}

double Fields::real(std::string_view key) const {
    const std::string& value = text(key);
    double number = 0;
    const char* end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || rest != end || !std::isfinite(number)) {
        reject(key, "'" + escape(value.substr(0, 40)) + "' is no number");
    }
    return number;
}

std::string escape(std::string_view text) {
    constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '\\') {
            out += c;
        } else {
            out += "\\x";
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        }
    }
    return out;
}

}  // namespace vsb::transport
