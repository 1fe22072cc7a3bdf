#include "harness/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <linux/close_range.h>

namespace vsb::harness {
namespace {

constexpr std::size_t kMaxOutput = 1 << 20;
constexpr int kStepMs = 50;  // how late `stop` may be heard

[[noreturn]] void throw_errno(int error, const std::string& what) {
    throw std::system_error(error, std::generic_category(), what);
}

// What the child needs after fork(), all made before it: there only async-signal-safe calls are
// allowed, since other threads may have held any lock.
struct Prepared {
    std::vector<char*> argv;
    std::vector<char*> envp;
    std::string program;                     // with its path
    std::vector<Fd> held;                    // our descriptors, moved out of the way
    std::vector<std::pair<int, int>> moves;  // (held, the child's)
};

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    // The child's PATH is ours; a search by hand since execvpe() may allocate.
    const char* path = getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
    const std::string folders = path != nullptr ? path : "/usr/bin:/bin";
    std::size_t at = 0;
    while (at <= folders.size()) {
        const std::size_t end = std::min(folders.find(':', at), folders.size());
        const std::string candidate = folders.substr(at, end - at) + '/' + name;
        if (access(candidate.c_str(), X_OK) == 0) return candidate;
        at = end + 1;
    }
    throw_errno(ENOENT, "starting " + name);
}

Prepared prepare(const SpawnPlan& plan, std::vector<std::string>& environment) {
    if (plan.argv.empty()) throw std::invalid_argument("nothing to start");
    Prepared ready;
    ready.program = find_program(plan.argv[0]);
    for (const std::string& one : plan.argv)
        ready.argv.push_back(const_cast<char*>(one.c_str()));
    ready.argv.push_back(nullptr);
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string_view text = *one;
        const std::string_view name = text.substr(0, text.find('='));
        const bool replaced = std::ranges::any_of(plan.environment, [&](const std::string& ours) {
            return ours.size() > name.size() && ours.starts_with(name) && ours[name.size()] == '=';
        });
        if (!replaced) environment.emplace_back(text);
    }
    environment.insert(environment.end(), plan.environment.begin(), plan.environment.end());
    for (const std::string& one : environment)
        ready.envp.push_back(const_cast<char*>(one.c_str()));
    ready.envp.push_back(nullptr);

    int highest = 2;
    for (const auto& [ours, theirs] : plan.fds)
        highest = std::max(highest, theirs);
    const auto hold = [&](int fd, int theirs) {
        const int copy = fcntl(fd, F_DUPFD_CLOEXEC, highest + 1);
        if (copy < 0) throw_errno(errno, "descriptor " + std::to_string(fd));
        ready.held.emplace_back(copy);
        ready.moves.emplace_back(copy, theirs);
    };
    for (const auto& [ours, theirs] : plan.fds)
        hold(ours, theirs);
    const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null) throw_errno(errno, "/dev/null");
    for (int standard = 0; standard <= 2; ++standard) {
        const auto named = [&](const auto& pair) { return pair.second == standard; };
        if (std::ranges::none_of(plan.fds, named)) hold(null.get(), standard);
    }
    return ready;
}

[[noreturn]] void become(const Prepared& ready, const SpawnPlan& plan, pid_t parent, int report) {
    const auto give_up = [report](int error) {
        [[maybe_unused]] const ssize_t n = write(report, &error, sizeof(error));
        _exit(127);
    };
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it died before it could be heard
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int number = 1; number < NSIG; ++number)
        signal(number, SIG_DFL);
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0) give_up(errno);
    for (const auto& [held, theirs] : ready.moves) {
        if (dup2(held, theirs) < 0) give_up(errno);
    }
    if (!plan.working_directory.empty() && chdir(plan.working_directory.c_str()) < 0) {
        give_up(errno);
    }
    execve(ready.program.c_str(), ready.argv.data(), ready.envp.data());
    give_up(errno);
    _exit(127);
}

ExitStatus decode(int status) {
    if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
    return {WEXITSTATUS(status), 0};
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
}

Fd::~Fd() {
    reset();
}

void Fd::reset() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
}

std::pair<Fd, Fd> make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) < 0) throw_errno(errno, "pipe");
    return {Fd(ends[0]), Fd(ends[1])};
}

std::pair<Fd, Fd> make_socket_pair() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) < 0) {
        throw_errno(errno, "socketpair");
    }
    return {Fd(ends[0]), Fd(ends[1])};
}

std::uint64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

std::string describe(const ExitStatus& status) {
    if (status.signal == 0) return "exit status " + std::to_string(status.status);
    const char* name = sigdescr_np(status.signal);
    return "signal " + std::to_string(status.signal) + " (" + (name != nullptr ? name : "?") + ")";
}

Child::Child(const SpawnPlan& plan) {
    std::vector<std::string> environment;
    const Prepared ready = prepare(plan, environment);
    auto [read_end, write_end] = make_pipe();
    // The report's write end must not be where the child's descriptors go.
    const Fd report(fcntl(write_end.get(), F_DUPFD_CLOEXEC, 256));
    if (!report) throw_errno(errno, "pipe");
    write_end.reset();
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0) throw_errno(errno, "starting " + plan.argv[0]);
    if (pid_ == 0) become(ready, plan, parent, report.get());
    // No race: nobody but us reaps it, so the number stays its own.
    // (By number: glibc 2.36 declares the function without extern "C".)
    pidfd_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    const int pidfd_error = errno;
    const_cast<Fd&>(report).reset();
    int error = 0;
    ssize_t got = 0;
    do {
        got = read(read_end.get(), &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    if (got == 0 && pidfd_) return;  // execve() closed the pipe
    kill();
    throw_errno(got == 0 ? pidfd_error : error, "starting " + plan.argv[0]);
}

Child::~Child() {
    if (pid_ > 0) kill();
}

std::optional<ExitStatus> Child::wait(std::uint64_t timeout_ns) {
    if (ended_) return ended_;
    const std::uint64_t until = monotonic_ns() + timeout_ns;
    for (;;) {
        int status = 0;
        const pid_t got = waitpid(pid_, &status, WNOHANG);
        if (got == pid_) {
            ended_ = decode(status);
            return ended_;
        }
        const std::uint64_t now = monotonic_ns();
        if (now >= until) return std::nullopt;
        pollfd one{pidfd_.get(), POLLIN, 0};
        poll(&one, 1,
             static_cast<int>(std::min<std::uint64_t>((until - now) / 1'000'000 + 1, 60'000)));
    }
}

ExitStatus Child::kill() {
    // The group first, while the leader still holds its number: nobody else can have it.
    if (!ended_) ::kill(-pid_, SIGKILL);
    if (!ended_) ::kill(pid_, SIGKILL);
    while (!ended_) {
        int status = 0;
        const pid_t got = waitpid(pid_, &status, 0);
        if (got == pid_) ended_ = decode(status);
        if (got < 0 && errno != EINTR) ended_ = ExitStatus{0, SIGKILL};
    }
    return *ended_;
}

CommandResult run_command(const SpawnPlan& plan, std::uint64_t timeout_ns,
                          const std::function<bool()>& stop) {
    auto [read_end, write_end] = make_pipe();
    SpawnPlan with_output = plan;
    with_output.fds.emplace_back(write_end.get(), 1);
    with_output.fds.emplace_back(write_end.get(), 2);
    Child child(with_output);
    write_end.reset();
    const std::uint64_t until = monotonic_ns() + timeout_ns;
    CommandResult result;
    std::array<char, 16384> block{};
    bool open = true;
    while (open) {
        if (stop && stop()) throw std::runtime_error(plan.argv[0] + ": interrupted");
        if (monotonic_ns() >= until) {
            throw std::runtime_error(plan.argv[0] + ": not done after " +
                                     std::to_string(timeout_ns / 1'000'000'000) + " s");
        }
        // Its end counts, not that of whatever it left behind holding our pipe.
        std::array<pollfd, 2> fds{pollfd{read_end.get(), POLLIN, 0},
                                  pollfd{child.pidfd(), POLLIN, 0}};
        poll(fds.data(), fds.size(), kStepMs);
        if (fds[0].revents != 0) {
            const ssize_t n = read(read_end.get(), block.data(), block.size());
            if (n == 0) open = false;
            if (n > 0) {
                result.output.append(block.data(), std::min(static_cast<std::size_t>(n),
                                                            kMaxOutput - result.output.size()));
            }
        } else if (fds[1].revents != 0) {
            open = false;
        }
    }
    const std::uint64_t now = monotonic_ns();
    const auto status = child.wait(now < until ? until - now : 0);
    if (!status) throw std::runtime_error(plan.argv[0] + ": closed its output and did not end");
    result.status = *status;
    return result;
}

PrivateFolder::PrivateFolder(const std::string& parent) : path_(parent + "/vsb.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) throw_errno(errno, "a private folder in " + parent);
}

PrivateFolder::~PrivateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace vsb::harness
