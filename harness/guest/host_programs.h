#pragma once
// Topology vhost: the sending programs run on this machine.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/guest/children.h"
#include "harness/guest/guest_run.h"

namespace vsb::guest {

class HostPrograms : public ProgramRunner {
  public:
    // programs: the folder of the tools. scratch: a private one, which stands for the guest's /tmp.
    HostPrograms(std::string programs, std::string scratch)
        : programs_(std::move(programs)), scratch_(std::move(scratch)) {}

    using ProgramRunner::start;
    // Throws std::system_error.
    std::uint64_t start(const std::vector<std::string>& argv, const std::string& file) override;
    // Throws std::runtime_error at the deadline or when `stop` says so; the program is killed.
    GuestRun finish(std::uint64_t id, std::uint64_t deadline_ns,
                    const std::function<bool()>& stop) override;

  private:
    struct Running {
        std::unique_ptr<Child> child;
        Fd output;
        std::string file;
    };
    std::string own_path(const std::string& path) const;

    std::string programs_;
    std::string scratch_;
    std::map<std::uint64_t, Running> running_;
    std::uint64_t next_id_ = 1;
};

}  // namespace vsb::guest
