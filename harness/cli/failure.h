#pragma once
// How the program fails: one line on stderr, `vsockbench: <what>: <why> (<how to mend>)`, and an
// exit code that scripts can rely on.

#include <stdexcept>
#include <string>

namespace vsb::cli {

enum ExitCode : int {
    kDone = 0,
    kGateFailed = 1,
    kUsage = 2,        // usage or bad input; nothing was recorded
    kNotMeasured = 3,  // a trial failed, the store filled up
    kSkipped = 4,      // this machine lacks something that was required
    kInterrupted = 130,
};

struct Failure : std::runtime_error {
    Failure(ExitCode exit_code, const std::string& line)
        : std::runtime_error(line), code(exit_code) {}
    ExitCode code;
};

// Runs a command and turns whatever it throws into the line and the code.
int report_failures(int (*command)(int, char**), int argc, char** argv);

}  // namespace vsb::cli
