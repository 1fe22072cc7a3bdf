#pragma once
// Hardware counters of a thread or a CPU through perf_event_open. Counters that are absent,
// denied or multiplexed are absent with a reason, never 0 and never scaled in silence.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace vsb::perf {

class PerfCalls;  // receivers/perf/perf_calls.h: the seam of the tests

struct Count {
    std::optional<std::uint64_t> value;
    std::string reason;  // why absent; empty when there is a value
};

struct Counts {
    Count cycles;
    Count instructions;
};

// Why this machine gives us no hardware counters (permission, not supported); nullopt when it does.
std::optional<std::string> unavailable_reason();
std::optional<std::string> unavailable_reason(PerfCalls& calls);

// One group (cycles, instructions) of one thread or one CPU, opened disabled.
// Errors of opening do not throw: they are the reasons in read().
class Group {
  public:
    static Group of_thread(pid_t tid);
    static Group of_cpu(int cpu);
    // `calls` must outlive the group.
    static Group of_thread(pid_t tid, PerfCalls& calls);  // tid 0: the calling thread
    static Group of_cpu(int cpu, PerfCalls& calls);
    Group(Group&&) noexcept;
    Group& operator=(Group&&) noexcept;
    ~Group();

    void start();
    Counts stop();

  private:
    struct Impl;
    explicit Group(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace vsb::perf
