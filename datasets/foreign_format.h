#pragma once
// Which of the formats that can be imported a text is in.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vsb::datasets {

enum class ForeignFormat : std::uint8_t {
    csv,
    vsock_perf,
    iperf3,
    google_benchmark,
    perf_stat,       // perf stat -x
    perf_stat_json,  // perf stat -j
    hyperfine,
    benchfmt,
};

std::string_view name_of(ForeignFormat format);
// Throws std::invalid_argument naming the formats.
ForeignFormat parse_foreign_format(std::string_view name);

// By its content. nullopt: it looks like none of them, or like more than one. Throws ImportError
// for what starts like JSON and is none. name is for that message.
std::optional<ForeignFormat> format_of(std::string_view text, const std::string& name);

}  // namespace vsb::datasets
