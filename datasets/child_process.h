#pragma once
// For tests: a forked child that is always ended and waited for, and a pipe to hear from it.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

namespace vsb::datasets {

class Pipe {
  public:
    Pipe() {
        if (pipe(ends_.data()) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe");
    }
    ~Pipe() {
        close(ends_[0]);
        close_write_end();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    int read_end() const { return ends_[0]; }
    int write_end() const { return ends_[1]; }
    void close_write_end() {
        if (ends_[1] >= 0) close(ends_[1]);
        ends_[1] = -1;
    }

  private:
    std::array<int, 2> ends_{-1, -1};
};

class Child {
  public:
    static constexpr int kThrew = 99;

    // Runs work in the child, which ends by _exit(): 0 when work returns, kThrew when it throws.
    template <class Work>
    explicit Child(Work work) : pid_(fork()) {
        if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (pid_ > 0) return;
        try {
            work();
        } catch (const std::exception& error) {
            dprintf(STDERR_FILENO, "in the child: %s\n", error.what());
            _exit(kThrew);
        }
        _exit(0);
    }
    ~Child() {
        if (pid_ > 0) kill_and_wait();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Its exit status, or -1 when a signal ended it.
    int wait() {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    void kill_and_wait() {
        kill(pid_, SIGKILL);
        wait();
    }
    // Dead, and still in the process table.
    void kill_without_waiting() const {
        kill(pid_, SIGKILL);
        siginfo_t info{};
        while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 &&
               errno == EINTR) {
        }
    }

  private:
    pid_t pid_;
};

}  // namespace vsb::datasets
