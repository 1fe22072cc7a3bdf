#include "transport/testing/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace vsb::transport::testing {
namespace {

using Clock = std::chrono::steady_clock;

int left_ms(Clock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    return left.count() < 0 ? 0 : static_cast<int>(left.count());
}

// False at the end of the pipe.
bool take(int fd, std::string& text) {
    char chunk[65536];
    const ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n > 0) text.append(chunk, static_cast<std::size_t>(n));
    return n > 0 || (n < 0 && errno == EINTR);
}

}  // namespace

Child::Child(std::vector<std::string> argv, const std::string& root) {
    int out[2];
    int err[2];
    int ready[2];
    if (::pipe2(out, O_CLOEXEC) < 0 || ::pipe2(err, O_CLOEXEC) < 0 ||
        ::pipe2(ready, O_CLOEXEC) < 0) {
        throw std::runtime_error("pipe2");
    }
    std::vector<char*> args;
    args.reserve(argv.size() + 1);
    for (std::string& arg : argv)
        args.push_back(arg.data());
    args.push_back(nullptr);
    char* environment[] = {nullptr};
    pid_ = ::fork();
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int high = ::fcntl(ready[1], F_DUPFD, 10);
        ::dup2(out[1], 1);
        ::dup2(err[1], 2);
        ::dup2(high, 3);
        ::close(high);
        if (!root.empty() && (::chroot(root.c_str()) < 0 || ::chdir("/") < 0)) ::_exit(125);
        ::execve(args[0], args.data(), environment);
        ::_exit(126);
    }
    ::close(out[1]);
    ::close(err[1]);
    ::close(ready[1]);
    out_fd_ = out[0];
    err_fd_ = err[0];
    ready_fd_ = ready[0];
}

Child::~Child() {
    if (pid_ > 0) {
        kill();
        wait(5);
    }
    for (const int fd : {out_fd_, err_fd_, ready_fd_})
        ::close(fd);
}

std::string Child::ready() {
    std::string text;
    const auto until = Clock::now() + std::chrono::seconds(20);
    while (text.find('\n') == std::string::npos) {
        pollfd waiting{ready_fd_, POLLIN, 0};
        if (::poll(&waiting, 1, left_ms(until)) == 0) break;
        if (!take(ready_fd_, text)) break;
    }
    return text.substr(0, text.find('\n'));
}

int Child::wait(int seconds) {
    const auto until = Clock::now() + std::chrono::seconds(seconds);
    bool out_open = true;
    bool err_open = true;
    while (out_open || err_open) {
        pollfd waiting[2] = {{out_open ? out_fd_ : -1, POLLIN, 0},
                             {err_open ? err_fd_ : -1, POLLIN, 0}};
        if (::poll(waiting, 2, left_ms(until)) == 0) {
            kill();
            err_ += "[killed by the test: it took too long]";
        }
        if (waiting[0].revents != 0) out_open = take(out_fd_, out_);
        if (waiting[1].revents != 0) err_open = take(err_fd_, err_);
    }
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void Child::kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void Child::wait_for(int fd, std::string& so_far, const std::string& text) {
    const auto until = Clock::now() + std::chrono::seconds(20);
    while (so_far.find(text) == std::string::npos) {
        pollfd waiting{fd, POLLIN, 0};
        if (::poll(&waiting, 1, left_ms(until)) == 0 || !take(fd, so_far)) return;
    }
}

TemporaryFolder::TemporaryFolder() {
    char name[] = "/tmp/vsb-test-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string program(const char* bin_dir, const char* name) {
    return std::string(bin_dir) + "/" + name;
}

}  // namespace vsb::transport::testing
