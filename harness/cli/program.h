#pragma once
// For tests: the built vsockbench as a child process, started without a shell.

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace vsb::cli {

struct Finished {
    int exit_code = 0;  // 128 + the signal's number when one ended it
    std::string out;
    std::string err;
};

struct ProgramOptions {
    std::string in;              // of stdin
    bool closed_stdout = false;  // stdout is a pipe nobody reads
    bool full_stdout = false;    // stdout is /dev/full
    uid_t uid = 0;               // run as this user; 0: as we are
    std::map<std::string, std::string> environment;
};

// Runs it to its end.
Finished run_program(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

// One that runs while the test watches its stderr; killed at the end if it still lives.
class RunningProgram {
  public:
    explicit RunningProgram(const std::vector<std::string>& arguments);
    RunningProgram(const RunningProgram&) = delete;
    RunningProgram& operator=(const RunningProgram&) = delete;
    ~RunningProgram();

    // Reads stderr until `lines` lines that start with `prefix` came; false when it ended first.
    bool wait_for_lines(const std::string& prefix, int lines);
    // Reads on for a while, so that a signal meets a random moment of a trial.
    void read_for_ms(int ms);
    void signal(int number);
    Finished wait();  // the rest of both streams and the code

  private:
    bool read_some(int timeout_ms);

    pid_t pid_ = -1;
    int out_ = -1;
    int err_ = -1;
    Finished seen_;
};

}  // namespace vsb::cli
