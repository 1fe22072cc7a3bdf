#include "receivers/perf/reading.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace vsb::perf {
namespace {

Count absent(std::string reason) {
    return {std::nullopt, std::move(reason)};
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f%%",
                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
    return text;
}

}  // namespace

std::optional<Reading> decode(std::span<const std::uint64_t> words, std::size_t size,
                              std::size_t events) {
    constexpr std::size_t kHeader = 3;
    if (size != (kHeader + events) * sizeof(std::uint64_t)) return std::nullopt;
    if (words.size() < kHeader + events || words[0] != events) return std::nullopt;
    Reading reading;
    reading.enabled_ns = words[1];
    reading.running_ns = words[2];
    const auto values = words.subspan(kHeader, events);
    reading.values.assign(values.begin(), values.end());
    return reading;
}

Count difference(const Reading& before, const Reading& after, std::size_t event) {
    if (event >= before.values.size() || event >= after.values.size()) {
        return absent("the counter is not part of its group's reading");
    }
    if (after.enabled_ns < before.enabled_ns || after.running_ns < before.running_ns ||
        after.values[event] < before.values[event]) {
        return absent("the counter went backwards");
    }
    const std::uint64_t enabled = after.enabled_ns - before.enabled_ns;
    const std::uint64_t running = after.running_ns - before.running_ns;
    if (enabled == 0) return absent("the counter was never enabled: its thread did not run");
    if (running == 0) {
        return absent("the counter never ran: the hardware counters were all taken");
    }
    if (running < enabled) {
        return absent("multiplexed: on the hardware for " + percent(running, enabled) +
                      " of the time; fewer counters at once would help");
    }
    if (running > enabled) return absent("the counter ran for longer than it was enabled");
    return {after.values[event] - before.values[event], {}};
}

std::string open_error_reason(int error) {
    switch (error) {
        case EACCES:
        case EPERM:
            return "permission denied: set kernel.perf_event_paranoid to 1 or less (0 for a whole "
                   "CPU) or give CAP_PERFMON";
        case ENOENT:
        case EOPNOTSUPP:
        case ENXIO:
            return "this machine has no such hardware counter (a virtual machine without a "
                   "virtual PMU, often)";
        case ENODEV:
            return "the CPU is not there or not online";
        case ENOSYS:
            return "the kernel is built without perf events";
        case ESRCH:
            return "the thread is not there";
        case EMFILE:
            return "too many open files";
        case EBUSY:
            return "the hardware counters are taken by another user of perf";
        default:
            return "perf_event_open: " + std::generic_category().message(error);
    }
}

}  // namespace vsb::perf
