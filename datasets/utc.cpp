#include "datasets/utc.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "datasets/decimal.h"

namespace vsb::datasets {

std::string utc(std::chrono::system_clock::time_point time) {
    using std::chrono::floor;
    const auto ms = floor<std::chrono::milliseconds>(time);
    const auto whole = floor<std::chrono::seconds>(ms);
    const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 96> out{};
    const int size =
        std::snprintf(out.data(), out.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                      parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                      parts.tm_min, parts.tm_sec, static_cast<int>((ms - whole).count()));
    return {out.data(), static_cast<std::size_t>(size)};
}

std::string utc_now() {
    return utc(std::chrono::system_clock::now());
}

std::optional<std::string> utc_of(std::string_view text) {
    constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
    constexpr std::size_t kMostFraction = 9;
    if (text.size() < kForm.size()) return std::nullopt;
    for (std::size_t i = 0; i < kForm.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (kForm[i] == 'd' ? !digit : text[i] != kForm[i]) return std::nullopt;
    }
    const auto number = [&text](std::size_t at, std::size_t size) {
        return static_cast<int>(whole_number(text.substr(at, size)).value_or(0));
    };
    const std::chrono::year_month_day day{std::chrono::year{number(0, 4)},
                                          std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                          std::chrono::day{static_cast<unsigned>(number(8, 2))}};
    // A time in ns since 1970 ends in the year 2262.
    if (!day.ok() || day.year() < std::chrono::year{1970} || day.year() > std::chrono::year{2200}) {
        return std::nullopt;
    }
    if (number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 60) return std::nullopt;
    std::chrono::system_clock::time_point time = std::chrono::sys_days(day);
    time += std::chrono::hours(number(11, 2)) + std::chrono::minutes(number(14, 2)) +
            std::chrono::seconds(number(17, 2));
    std::string_view rest = text.substr(kForm.size());
    if (rest.starts_with(".")) {
        std::string digits(rest.substr(1, rest.find_first_not_of("0123456789", 1) - 1));
        if (digits.empty() || digits.size() > kMostFraction) return std::nullopt;
        rest.remove_prefix(digits.size() + 1);
        digits.resize(kMostFraction, '0');
        time += std::chrono::nanoseconds(whole_number(digits).value_or(0));
    }
    if (rest == "Z") return utc(time);
    constexpr std::string_view kZone = "+dd:dd";
    if (rest.size() != kZone.size() || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':') {
        return std::nullopt;
    }
    const auto hours = whole_number(rest.substr(1, 2));
    const auto minutes = whole_number(rest.substr(4, 2));
    if (!hours || !minutes || *hours > 14 || *minutes > 59) return std::nullopt;
    const auto offset = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
    return utc(rest[0] == '+' ? time - offset : time + offset);
}

}  // namespace vsb::datasets
