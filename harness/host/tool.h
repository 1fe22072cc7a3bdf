#pragma once
// One of the three socket tools as a child: started with its pipes, read to its end, its result
// lines parsed. How they are driven: transport/README.md.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/process.h"
#include "transport/results.h"

namespace vsb::harness {

class Tool {
  public:
    // role: how failures name it, "the receiver". With `announces`, --ready-fd 3 is passed and
    // await_ready() gives the port. Throws std::system_error when it cannot be started.
    Tool(std::string role, std::vector<std::string> argv, bool announces);

    // The port it listens on. Throws std::runtime_error with its own reason when it ends or stays
    // silent instead.
    std::uint16_t await_ready(std::uint64_t deadline_ns, const std::function<bool()>& stop);

    // Its results. Throws std::runtime_error naming the role and the reason: it failed, ended by a
    // signal, or printed what are no results. Call after await_all().
    transport::ReadResults results() const;
    bool succeeded() const { return status_ && *status_ == ExitStatus{}; }

    // Reads all of them to their ends. When the deadline passes or stop says so, they are killed
    // and std::runtime_error is thrown. deadline_ns: CLOCK_MONOTONIC.
    static void await_all(std::span<Tool* const> tools, std::uint64_t deadline_ns,
                          const std::function<bool()>& stop);

  private:
    bool read_some();  // false: both outputs are closed
    std::string own_reason() const;

    std::string role_;
    Fd ready_;
    Fd out_;
    Fd err_;
    std::string out_text_;
    std::string err_text_;
    std::unique_ptr<Child> child_;
    std::optional<ExitStatus> status_;
};

}  // namespace vsb::harness
