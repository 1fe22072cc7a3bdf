#pragma once
// What PID 1 does to its guest: file systems, modules, interrupts, counters, and the end. Linux
// only, and only in a guest.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vsb::guest {

// /proc, /sys, /dev and /tmp. What does not mount is told.
std::vector<std::string> mount_file_systems();

// Loads /modules/*.ko in the order of their names. Those that do not load are told.
std::vector<std::string> load_modules();

// "port:NAME" (a virtio serial port) or a path. Opens it, raw if it is a terminal, waiting up to
// ten seconds for it to appear. -1: it did not.
int open_channel(const std::string& where);

// The value of a word `key=value` of /proc/cmdline, or empty.
std::string command_line_value(const std::string& key);

// Directs the interrupts of the virtio-vsock device to one CPU. Empty, or why not.
std::string pin_interrupts(int cpu);
std::string set_sysctl(const std::string& name, const std::string& value);

// Counters by name: irq_rx (virtio-vsock's RX interrupts), context_switches (all CPUs),
// cpuN_run_ns (time CPU N ran tasks, /proc/schedstat).
using GuestCounters = std::vector<std::pair<std::string, std::uint64_t>>;
GuestCounters read_counters();

int online_cpus();

// Does not return: isa-debug-exit where there is one, then power off.
[[noreturn]] void power_off(int status);

}  // namespace vsb::guest
