#include "transport/number.h"

#include <charconv>
#include <stdexcept>
#include <string>

namespace vsb::transport {
namespace {

std::string quoted(std::string_view text) {
    return "'" + std::string(text.substr(0, 40)) + "'";
}

}  // namespace

std::uint64_t parse_number(std::string_view text, std::uint64_t low, std::uint64_t high) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    const bool too_large = error == std::errc::result_out_of_range;
    if (rest != end || text.empty() || (error != std::errc{} && !too_large)) {
        throw std::invalid_argument(quoted(text) + " is no whole number");
    }
    if (too_large || number < low || number > high) {
        throw std::invalid_argument(quoted(text) + " is not within " + std::to_string(low) +
                                    " to " + std::to_string(high));
    }
    return number;
}

std::uint64_t parse_seconds(std::string_view text) {
    constexpr std::uint64_t kNs = 1000000000;
    constexpr std::uint64_t kMost = 1000000;  // eleven days
    const auto reject = [&]() -> std::uint64_t {
        throw std::invalid_argument(quoted(text) +
                                    " is no time in seconds (above 0, at most 1000000, as in 2.5)");
    };
    const auto dot = text.find('.');
    const std::string_view whole = text.substr(0, dot);
    std::string fraction;
    if (dot != std::string_view::npos) {
        fraction = text.substr(dot + 1);
        if (fraction.empty() || fraction.size() > 9) return reject();
    }
    fraction.resize(9, '0');
    std::uint64_t ns = 0;
    try {
        ns = parse_number(whole, 0, kMost) * kNs + parse_number(fraction);
    } catch (const std::invalid_argument&) {
        return reject();
    }
    if (ns == 0 || ns > kMost * kNs) return reject();
    return ns;
}

}  // namespace vsb::transport
