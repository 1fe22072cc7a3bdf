#include "receivers/perf/counters.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "receivers/perf/perf_calls.h"
#include "receivers/perf/reading.h"

namespace vsb::perf {
namespace {

constexpr std::size_t kEvents = 2;
constexpr std::array<std::uint64_t, kEvents> kConfigs = {PERF_COUNT_HW_CPU_CYCLES,
                                                         PERF_COUNT_HW_INSTRUCTIONS};

perf_event_attr attributes(std::uint64_t config) {
    perf_event_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_HARDWARE;
    attr.config = config;
    attr.disabled = 1;
    attr.exclude_hv = 1;
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return attr;
}

}  // namespace

struct Group::Impl {
    PerfCalls& calls;
    int leader = -1;
    std::array<int, kEvents> fds = {-1, -1};
    std::array<std::size_t, kEvents> slots = {};  // place of the event in the group's reading
    std::array<std::string, kEvents> open_reasons;
    std::size_t opened = 0;
    std::optional<Reading> before;
    std::string start_reason;

    Impl(PerfCalls& perf_calls, pid_t pid, int cpu) : calls(perf_calls) {
        for (std::size_t event = 0; event < kEvents; ++event) {
            perf_event_attr attr = attributes(kConfigs[event]);
            // Members follow their leader: only the leader starts disabled.
            if (leader >= 0) attr.disabled = 0;
            const int fd = calls.open(attr, pid, cpu, leader);
            if (fd < 0) {
                open_reasons[event] = open_error_reason(errno);
                continue;
            }
            fds[event] = fd;
            slots[event] = opened++;
            if (leader < 0) leader = fd;
        }
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    ~Impl() {
        for (std::size_t event = kEvents; event-- > 0;) {
            if (fds[event] >= 0) calls.close(fds[event]);
        }
    }

    std::optional<Reading> read(std::string& reason) {
        std::array<std::uint64_t, 3 + kEvents> words = {};
        ssize_t size = 0;
        do {
            size = calls.read(leader, words.data(), sizeof words);
        } while (size < 0 && errno == EINTR);
        if (size < 0) {
            reason = std::string("reading the counters: ") + std::strerror(errno);
            return std::nullopt;
        }
        auto reading = decode(words, static_cast<std::size_t>(size), opened);
        if (!reading) reason = "the kernel gave no reading of the counters";
        return reading;
    }
};

Group::Group(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;
Group::~Group() = default;

Group Group::of_thread(pid_t tid) {
    return of_thread(tid, system_perf_calls());
}
Group Group::of_cpu(int cpu) {
    return of_cpu(cpu, system_perf_calls());
}

Group Group::of_thread(pid_t tid, PerfCalls& calls) {
    return Group(std::make_unique<Impl>(calls, tid, -1));
}

Group Group::of_cpu(int cpu, PerfCalls& calls) {
    return Group(std::make_unique<Impl>(calls, -1, cpu));
}

void Group::start() {
    Impl& group = *impl_;
    group.before.reset();
    group.start_reason.clear();
    if (group.leader < 0) return;
    // The times are not reset by PERF_EVENT_IOC_RESET, so that differences are taken instead.
    group.before = group.read(group.start_reason);
    if (group.before && group.calls.control(group.leader, PERF_EVENT_IOC_ENABLE) < 0) {
        group.start_reason = std::string("enabling the counters: ") + std::strerror(errno);
        group.before.reset();
    }
}

Counts Group::stop() {
    Impl& group = *impl_;
    std::string reason = group.start_reason.empty() ? "not started" : group.start_reason;
    std::optional<Reading> after;
    if (group.before) {
        if (group.calls.control(group.leader, PERF_EVENT_IOC_DISABLE) < 0) {
            reason = std::string("disabling the counters: ") + std::strerror(errno);
        } else {
            after = group.read(reason);
        }
    }
    const auto count = [&](std::size_t event) -> Count {
        if (group.fds[event] < 0) return {std::nullopt, group.open_reasons[event]};
        if (!after) return {std::nullopt, reason};
        return difference(*group.before, *after, group.slots[event]);
    };
    Counts counts{count(0), count(1)};
    group.before.reset();
    group.start_reason.clear();
    return counts;
}

std::optional<std::string> unavailable_reason() {
    return unavailable_reason(system_perf_calls());
}

std::optional<std::string> unavailable_reason(PerfCalls& calls) {
    // Opening is not enough: some virtual machines open counters that never run.
    Group group = Group::of_thread(0, calls);
    group.start();
    for (int i = 0; i < 10000; ++i)
        asm volatile("");
    const Counts counts = group.stop();
    if (!counts.cycles.value) return "cycles: " + counts.cycles.reason;
    if (!counts.instructions.value) return "instructions: " + counts.instructions.reason;
    if (*counts.cycles.value == 0 || *counts.instructions.value == 0) {
        return "the counters read 0 over a loop that ran: they do not count";
    }
    return std::nullopt;
}

}  // namespace vsb::perf
