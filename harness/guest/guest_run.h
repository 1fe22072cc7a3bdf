#pragma once
// Programs of a trial, and what they left: in a guest or on this machine.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace vsb::guest {

// A program that ran.
struct GuestRun {
    int status = 0;
    int signal = 0;
    std::string output;
    std::string file;
    std::map<std::string, double> counters;  // of the guest, over its run; none of this machine
};

class ProgramRunner {
  public:
    ProgramRunner() = default;
    ProgramRunner(const ProgramRunner&) = delete;
    ProgramRunner& operator=(const ProgramRunner&) = delete;
    virtual ~ProgramRunner() = default;

    // argv[0] is a guest's path: "/vsb-sender". `file` is to come back with the results.
    virtual std::uint64_t start(const std::vector<std::string>& argv, const std::string& file) = 0;
    std::uint64_t start(const std::vector<std::string>& argv) { return start(argv, {}); }
    // Waits for a program's end, at most until `deadline_ns` (CLOCK_MONOTONIC); `stop` is polled.
    // Throws what says that there is no use in waiting.
    virtual GuestRun finish(std::uint64_t id, std::uint64_t deadline_ns,
                            const std::function<bool()>& stop) = 0;
};

}  // namespace vsb::guest
