#include "transport/size.h"

#include <charconv>
#include <limits>
#include <stdexcept>

namespace vsb::transport {
namespace {

constexpr std::string_view kSuffixes = "KMGTPE";

[[noreturn]] void reject(std::string_view text, const char* why) {
    throw std::invalid_argument("'" + std::string(text.substr(0, 40)) + "' is no size: " + why +
                                " (a whole number and one of K, M, G, T, P, E, as in 64K)");
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
    if (text.empty()) reject(text, "it is empty");
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc::result_out_of_range) reject(text, "it is larger than 2^64-1");
    if (error != std::errc{}) reject(text, "it does not start with a digit");
    if (rest == end) return number;
    if (end - rest > 1) reject(text, "more than one character follows the number");
    const char upper = *rest >= 'a' && *rest <= 'z' ? static_cast<char>(*rest - 'a' + 'A') : *rest;
    const auto power = kSuffixes.find(upper);
    if (power == std::string_view::npos) reject(text, "its suffix is unknown");
    const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
    if (number > (std::numeric_limits<std::uint64_t>::max() >> shift)) {
        reject(text, "it is larger than 2^64-1");
    }
    return number << shift;
}

std::string format_size(std::uint64_t bytes) {
    std::size_t power = 0;
    std::uint64_t number = bytes;
    while (number != 0 && number % 1024 == 0 && power < kSuffixes.size()) {
        number /= 1024;
        ++power;
    }
    return std::to_string(number) + (power == 0 ? 'B' : kSuffixes[power - 1]);
}

}  // namespace vsb::transport
