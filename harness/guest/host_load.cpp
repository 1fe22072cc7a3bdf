#include "harness/guest/host_load.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "harness/guest/children.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Whole numbers parted by blanks, up to the first word that is none.
std::vector<std::int64_t> numbers(std::string_view text) {
    std::vector<std::int64_t> found;
    while (!text.empty()) {
        const std::size_t start = text.find_first_not_of(' ');
        if (start == std::string_view::npos) break;
        text.remove_prefix(start);
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc()) break;
        found.push_back(value);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
    return found;
}

std::uint64_t positive(std::int64_t value) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value));
}

}  // namespace

std::optional<std::uint64_t> parse_busy_ticks(std::string_view stat) {
    if (!stat.starts_with("cpu ")) return std::nullopt;
    const auto fields = numbers(stat.substr(4, stat.find('\n') - 4));
    // user nice system idle iowait irq softirq steal ...
    if (fields.size() < 7) return std::nullopt;
    return positive(fields[0]) + positive(fields[1]) + positive(fields[2]) + positive(fields[5]) +
           positive(fields[6]);
}

std::optional<ProcessTicks> parse_process_ticks(std::string_view stat) {
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string_view::npos || stat.size() < name_end + 4) return std::nullopt;
    const auto fields = numbers(stat.substr(name_end + 4));  // behind the state's letter
    // ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime
    if (fields.size() < 14) return std::nullopt;
    ProcessTicks process;
    process.group = static_cast<pid_t>(fields[1]);
    for (std::size_t i = 10; i < 14; ++i)
        process.ticks += positive(fields[i]);
    return process;
}

HostLoad read_host_load(pid_t group) {
    HostLoad load;
    load.at_ns = monotonic_ns();
    load.busy_ticks = parse_busy_ticks(slurp("/proc/stat")).value_or(0);
    const std::string self = std::to_string(getpid());
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        const auto process = parse_process_ticks(slurp(entry.path() / "stat"));
        if (process && (process->group == group || name == self)) load.our_ticks += process->ticks;
    }
    return load;
}

double others_cpus(const HostLoad& before, const HostLoad& after, long ticks_per_second) {
    if (after.at_ns <= before.at_ns || ticks_per_second <= 0) return 0;
    const double seconds = static_cast<double>(after.at_ns - before.at_ns) / 1e9;
    const double busy =
        static_cast<double>(after.busy_ticks) - static_cast<double>(before.busy_ticks);
    const double ours =
        static_cast<double>(after.our_ticks) - static_cast<double>(before.our_ticks);
    return std::max(0.0, (busy - ours) / static_cast<double>(ticks_per_second) / seconds);
}

bool disturbing(const HostLoad& before, const HostLoad& after, long ticks_per_second) {
    constexpr double kCpus = 0.1;
    constexpr double kSeconds = 0.05;  // five ticks: every process's own count is off by up to one
    const double cpus = others_cpus(before, after, ticks_per_second);
    return cpus > kCpus && cpus * static_cast<double>(after.at_ns - before.at_ns) / 1e9 > kSeconds;
}

}  // namespace vsb::guest
