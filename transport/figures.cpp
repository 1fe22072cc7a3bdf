#include "transport/figures.h"

#include <cstdio>

#include "transport/errors.h"
#include "transport/rate.h"

namespace vsb::transport {

void add_times(Results& results, std::uint64_t bytes, std::uint64_t first_to_last_ns,
               std::uint64_t whole_ns) {
    const auto inner = gbit_per_s(bytes, first_to_last_ns);
    const auto whole = gbit_per_s(bytes, whole_ns);
    if (!inner || !whole) throw Failure("no time passed on the clock between first and last byte");
    results.count("first_to_last_ns", first_to_last_ns);
    results.count("whole_ns", whole_ns);
    results.real("first_to_last_gbit_s", *inner);
    results.real("whole_gbit_s", *whole);
}

void add_usage(Results& results, const Usage& usage) {
    results.count("user_ns", usage.user_ns);
    results.count("system_ns", usage.system_ns);
    results.count("voluntary_switches", usage.voluntary_switches);
    results.count("involuntary_switches", usage.involuntary_switches);
}

void add_intervals(Results& results, const std::vector<double>& gbit_s) {
    if (gbit_s.empty()) return;
    std::string text;
    for (const double one : gbit_s) {
        char number[40];
        std::snprintf(number, sizeof number, "%s%.6g", text.empty() ? "" : ",", one);
        text += number;
    }
    results.text("interval_gbit_s", text);
}

std::string join(const std::vector<int>& cpus) {
    std::string text;
    for (const int cpu : cpus)
        text += (text.empty() ? "" : ",") + std::to_string(cpu);
    return text.empty() ? "none" : text;
}

}  // namespace vsb::transport
