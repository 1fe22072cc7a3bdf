#include "reports/gnuplot.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace vsb::reports {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDeadline{20};
constexpr std::size_t kMostBytes = 8U << 20;
constexpr std::size_t kMostReason = 300;
constexpr const char* kScript = "plot.gp";
constexpr const char* kErrors = "errors.txt";

// A private directory that goes with its contents.
class Directory {
  public:
    Directory() : path_("/tmp/vsockbench-plot-XXXXXX") {
        if (mkdtemp(path_.data()) == nullptr) {
            throw std::system_error(errno, std::generic_category(), "mkdtemp " + path_);
        }
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    int get() const { return fd_; }
    void close() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_;
};

void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    if (!out.flush()) throw std::system_error(errno, std::generic_category(), "write " + path);
}

pid_t start(const std::string& program, const Directory& directory, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    const std::string errors = directory.file(kErrors);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL, 0600);
    posix_spawn_file_actions_addchdir_np(&actions, directory.path().c_str());
    // No initialisation files, no locale and nothing else of the caller's: the same plot
    // everywhere.
    std::string name = program;
    std::string defaults = "--default-settings";
    std::string script = kScript;
    std::array<char*, 4> argv = {name.data(), defaults.data(), script.data(), nullptr};
    std::string home = "HOME=" + directory.path();
    std::string locale = "LC_ALL=C";
    std::string path = "PATH=/usr/local/bin:/usr/bin:/bin";
    std::array<char*, 4> environment = {home.data(), locale.data(), path.data(), nullptr};
    pid_t pid = -1;
    const int error =
        posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::system_error(error, std::generic_category(), "start " + program);
    return pid;
}

// What the program printed; sets `why` when it hung or said too much.
std::string read_all(int fd, std::string& why) {
    const auto end = Clock::now() + kDeadline;
    std::string text;
    std::array<char, 65536> buffer{};
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        pollfd ready{fd, POLLIN, 0};
        const int n = left <= 0 ? 0 : poll(&ready, 1, static_cast<int>(left));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            why = "no plot before the deadline";
            return text;
        }
        const ssize_t got = read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(got));
        if (text.size() > kMostBytes) {
            why = "the plot is larger than 8 MiB";
            return text;
        }
    }
}

int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

std::string first_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text(kMostReason, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

// One drawing and nothing that a page would run or load.
bool is_one_svg(std::string_view text) {
    const std::size_t open = text.find("<svg");
    if (open == std::string_view::npos || text.find("<svg", open + 1) != std::string_view::npos) {
        return false;
    }
    if (text.find("</svg>", open) == std::string_view::npos) return false;
    for (const std::string_view bad :
         {"<script", "<image", "<foreignObject", "href='h", "href=\"h"}) {
        if (text.find(bad) != std::string_view::npos) return false;
    }
    return true;
}

Drawing draw_with(const std::string& program, const Plot& plot) {
    const Directory directory;
    write_file(directory.file(kScript), plot.script);
    for (const PlotData& data : plot.data)
        write_file(directory.file(data.file), data.text);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
    const Descriptor output(ends[0]);
    Descriptor input(ends[1]);
    const pid_t pid = start(program, directory, input.get());
    input.close();
    std::string why;
    std::string text = read_all(output.get(), why);
    if (!why.empty()) kill(pid, SIGKILL);
    const int status = wait_for(pid);
    if (!why.empty()) return {"", program + ": " + why};
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return {"", program + " failed: " + first_of(directory.file(kErrors))};
    }
    if (!is_one_svg(text)) return {"", program + " drew nothing that a page may hold"};
    return {std::move(text), ""};
}

}  // namespace

Plotter gnuplot(std::string program) {
    return [program = std::move(program)](const Plot& plot) -> Drawing {
        try {
            return draw_with(program, plot);
        } catch (const std::system_error& error) {
            return {"", error.what()};
        }
    };
}

}  // namespace vsb::reports
