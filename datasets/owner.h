#pragma once
// Which process runs an experiment, told so that a later process can know whether it is gone.
// A process number alone is not enough: numbers are used again, and begin anew with each boot.

#include <cstdint>
#include <string>

namespace vsb::datasets {

struct Owner {
    std::int64_t pid = 0;
    std::int64_t start_ticks =
        0;                      // clock ticks from boot to its start (field 22 of proc_pid_stat(5))
    std::string boot_id;        // /proc/sys/kernel/random/boot_id
    std::string pid_namespace;  // the link /proc/self/ns/pid: numbers mean nothing outside it

    bool operator==(const Owner&) const = default;
};

Owner this_process();

// Gone: another boot, no such process, one that started at another time, or one that is dead and
// only not yet waited for. A process of another PID namespace of this boot cannot be seen from
// here, so it counts as not gone: a live run must never be called interrupted.
bool is_gone(const Owner& owner);

}  // namespace vsb::datasets
