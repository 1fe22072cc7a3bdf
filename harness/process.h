#pragma once
// Children that cannot outlive us: a pidfd to wait on, SIGKILL at the death of the thread that
// started them (PR_SET_PDEATHSIG), a process group of their own that is killed as a whole, and no
// descriptor but those that were asked for.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vsb::harness {

// Owns a file descriptor.
class Fd {
  public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept;
    ~Fd();

    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }
    explicit operator bool() const { return fd_ >= 0; }
    void reset();

  private:
    int fd_ = -1;
};

std::pair<Fd, Fd> make_pipe();         // read end, write end; CLOEXEC
std::pair<Fd, Fd> make_socket_pair();  // stream; CLOEXEC
std::uint64_t monotonic_ns();

struct SpawnPlan {
    std::vector<std::string> argv;  // argv[0] is searched in PATH when it has no slash
    // (ours, the child's): 0, 1 and 2 that are not named become /dev/null.
    std::vector<std::pair<int, int>> fds;
    std::string working_directory;
    std::vector<std::string> environment;  // "NAME=VALUE", over ours
};

struct ExitStatus {
    int status = 0;  // of exit(), when it was not a signal
    int signal = 0;
    bool operator==(const ExitStatus&) const = default;
};
std::string describe(const ExitStatus& status);  // "exit status 1", "signal 9 (Killed)"

class Child {
  public:
    // Throws std::system_error naming the program: not there, not executable, no more processes.
    // The thread that calls this must live as long as the child is to.
    explicit Child(const SpawnPlan& plan);
    ~Child();  // kills the group and waits
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t pid() const { return pid_; }
    int pidfd() const { return pidfd_.get(); }  // readable once it has ended
    // Waits until it ended, at most so long; nullopt: it runs on.
    std::optional<ExitStatus> wait(std::uint64_t timeout_ns);
    // SIGKILL to the whole group; then waits until the child itself is gone.
    ExitStatus kill();

  private:
    pid_t pid_ = -1;
    Fd pidfd_;
    std::optional<ExitStatus> ended_;
};

struct CommandResult {
    ExitStatus status;
    std::string output;  // stdout and stderr as they came, at most 1 MiB
};

// Runs a program to its end. Throws std::runtime_error at the deadline or when `stop` says so.
CommandResult run_command(const SpawnPlan& plan, std::uint64_t timeout_ns,
                          const std::function<bool()>& stop = {});

// A folder of our own, mode 0700, removed with everything in it at the end.
class PrivateFolder {
  public:
    // Below `parent`. Throws std::system_error.
    explicit PrivateFolder(const std::string& parent);
    ~PrivateFolder();
    PrivateFolder(const PrivateFolder&) = delete;
    PrivateFolder& operator=(const PrivateFolder&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace vsb::harness
