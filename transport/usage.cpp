#include "transport/usage.h"

#include <sys/resource.h>

namespace vsb::transport {
namespace {

std::uint64_t ns(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
           static_cast<std::uint64_t>(time.tv_usec) * 1000u;
}

}  // namespace

Usage usage_of_this_thread() {
    rusage now{};
    ::getrusage(RUSAGE_THREAD, &now);
    return {ns(now.ru_utime), ns(now.ru_stime), static_cast<std::uint64_t>(now.ru_nvcsw),
            static_cast<std::uint64_t>(now.ru_nivcsw)};
}

Usage operator-(const Usage& after, const Usage& before) {
    return {after.user_ns - before.user_ns, after.system_ns - before.system_ns,
            after.voluntary_switches - before.voluntary_switches,
            after.involuntary_switches - before.involuntary_switches};
}

Usage& operator+=(Usage& sum, const Usage& one) {
    sum.user_ns += one.user_ns;
    sum.system_ns += one.system_ns;
    sum.voluntary_switches += one.voluntary_switches;
    sum.involuntary_switches += one.involuntary_switches;
    return sum;
}

}  // namespace vsb::transport
