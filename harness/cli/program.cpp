#include "harness/cli/program.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace vsb::cli {
namespace {

constexpr int kChunk = 65536;

[[noreturn]] void fail(const char* what, int error = errno) {
    throw std::system_error(error, std::generic_category(), what);
}

struct Pipe {
    std::array<int, 2> ends{-1, -1};
    Pipe() {
        if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
    }
};

std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const std::string name = text.substr(0, text.find('='));
        // The store of whoever runs the tests is none of theirs.
        if (!changes.contains(name) && name != "VSOCKBENCH_DB") all.push_back(text);
    }
    for (const auto& [name, value] : changes) {
        std::string entry = name;
        entry.append("=").append(value);
        all.push_back(std::move(entry));
    }
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (std::string& text : texts)
        all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

std::string program_path() {
    return std::string(VSB_BIN_DIR) + "/vsockbench";
}

struct Streams {
    int in;
    int out;
    int err;
};

pid_t start(const std::vector<std::string>& arguments, const Streams& streams,
            const std::map<std::string, std::string>& changes) {
    std::vector<std::string> words{program_path()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> environment = environment_with(changes);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, streams.in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams.out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams.err, STDERR_FILENO);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, words[0].c_str(), &actions, nullptr, pointers(words).data(),
                                  pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) fail("posix_spawn", error);
    return pid;
}

// posix_spawn cannot change the user.
pid_t start_as(uid_t uid, const std::vector<std::string>& arguments, const Streams& streams,
               const std::map<std::string, std::string>& changes) {
    std::vector<std::string> words{program_path()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> environment = environment_with(changes);
    const auto argv = pointers(words);
    const auto envp = pointers(environment);
    const pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid > 0) return pid;
    dup2(streams.in, STDIN_FILENO);
    dup2(streams.out, STDOUT_FILENO);
    dup2(streams.err, STDERR_FILENO);
    if (setgroups(0, nullptr) == 0 && setresgid(uid, uid, uid) == 0 &&
        setresuid(uid, uid, uid) == 0) {
        execve(argv[0], argv.data(), envp.data());
    }
    _exit(127);
}

int exit_code_of(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) fail("waitpid");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// False at its end.
bool read_into(int fd, std::string& text) {
    std::array<char, kChunk> chunk{};
    const ssize_t count = read(fd, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) return true;
    if (count < 0) fail("read");
    text.append(chunk.data(), static_cast<std::size_t>(count));
    return count > 0;
}

// Both streams to their ends, whichever speaks first.
void drain(int out, int err, Finished& seen) {
    std::array<pollfd, 2> streams{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        if (poll(streams.data(), streams.size(), -1) < 0 && errno != EINTR) fail("poll");
        if (streams[0].fd >= 0 && streams[0].revents != 0 && !read_into(out, seen.out)) {
            streams[0].fd = -1;
        }
        if (streams[1].fd >= 0 && streams[1].revents != 0 && !read_into(err, seen.err)) {
            streams[1].fd = -1;
        }
    }
}

void close_if_open(int fd) {
    if (fd >= 0) close(fd);
}

}  // namespace

Finished run_program(const std::vector<std::string>& arguments, const ProgramOptions& options) {
    Pipe in;
    Pipe out;
    Pipe err;
    // What a test says on stdin fits into a pipe.
    if (write(in.ends[1], options.in.data(), options.in.size()) !=
        static_cast<ssize_t>(options.in.size())) {
        fail("write to a child's stdin");
    }
    close(in.ends[1]);
    int out_read = out.ends[0];
    if (options.closed_stdout) {
        close(out_read);
        out_read = -1;
    }
    int out_write = out.ends[1];
    if (options.full_stdout) {
        out_write = open("/dev/full", O_WRONLY | O_CLOEXEC);
        if (out_write < 0) fail("/dev/full");
    }
    const Streams streams{in.ends[0], out_write, err.ends[1]};
    const pid_t pid = options.uid == 0
                          ? start(arguments, streams, options.environment)
                          : start_as(options.uid, arguments, streams, options.environment);
    close(in.ends[0]);
    close(out.ends[1]);
    if (options.full_stdout) close(out_write);
    close(err.ends[1]);
    Finished seen;
    drain(out_read, err.ends[0], seen);
    close_if_open(out_read);
    close(err.ends[0]);
    seen.exit_code = exit_code_of(pid);
    return seen;
}

RunningProgram::RunningProgram(const std::vector<std::string>& arguments) {
    Pipe out;
    Pipe err;
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pid_ = start(arguments, {null, out.ends[1], err.ends[1]}, {});
    close(null);
    close(out.ends[1]);
    close(err.ends[1]);
    out_ = out.ends[0];
    err_ = err.ends[0];
}

RunningProgram::~RunningProgram() {
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    close_if_open(out_);
    close_if_open(err_);
}

bool RunningProgram::read_some(int timeout_ms) {
    pollfd stream{err_, POLLIN, 0};
    const int ready = poll(&stream, 1, timeout_ms);
    if (ready < 0 && errno != EINTR) fail("poll");
    return ready <= 0 || read_into(err_, seen_.err);
}

bool RunningProgram::wait_for_lines(const std::string& prefix, int lines) {
    while (true) {
        int seen = seen_.err.starts_with(prefix) ? 1 : 0;
        for (std::size_t at = seen_.err.find("\n" + prefix); at != std::string::npos;
             at = seen_.err.find("\n" + prefix, at + 1)) {
            ++seen;
        }
        if (seen >= lines) return true;
        if (!read_some(-1)) return false;
    }
}

void RunningProgram::read_for_ms(int ms) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
    for (auto now = std::chrono::steady_clock::now(); now < end;
         now = std::chrono::steady_clock::now()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - now);
        if (!read_some(static_cast<int>(left.count()) + 1)) return;
    }
}

void RunningProgram::signal(int number) {
    kill(pid_, number);
}

Finished RunningProgram::wait() {
    drain(out_, err_, seen_);
    seen_.exit_code = exit_code_of(pid_);
    pid_ = -1;
    return seen_;
}

}  // namespace vsb::cli
