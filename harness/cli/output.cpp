#include "harness/cli/output.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "harness/cli/failure.h"
#include "reports/escape.h"

namespace vsb::cli {
namespace {

// 0, or the error that stopped it.
int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

// Line by line, since printable() would spell a line's end out.
std::string printable_lines(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        safe += reports::printable(text.substr(0, end));
        if (end == std::string_view::npos) break;
        safe += '\n';
        text.remove_prefix(end + 1);
    }
    return safe;
}

std::size_t columns_of(int fd) {
    winsize size{};
    const bool known = isatty(fd) != 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 100;
}

}  // namespace

void prepare_streams() {
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO) {
        fcntl(fd, F_SETFD, 0);
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    }
    if (fd > STDERR_FILENO) close(fd);
    signal(SIGPIPE, SIG_IGN);
}

void write_result(std::string_view text) {
    const int error = isatty(STDOUT_FILENO) != 0 ? write_all(STDOUT_FILENO, printable_lines(text))
                                                 : write_all(STDOUT_FILENO, text);
    if (error == 0 || error == EPIPE || error == EBADF) return;
    throw Failure(kNotMeasured, std::string("stdout: ") + std::strerror(error) +
                                    " (what was measured is in the store)");
}

void write_result(std::string_view text, const std::filesystem::path& file) {
    if (file.empty()) return write_result(text);
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int error = fd < 0 ? errno : write_all(fd, text);
    if (fd >= 0 && close(fd) != 0 && error == 0) error = errno;
    if (error != 0) {
        throw Failure(kUsage, file.string() + ": cannot be written: " + std::strerror(error) +
                                  " (choose another file with -o)");
    }
}

void say(std::string_view line) {
    write_all(STDERR_FILENO, reports::printable(line) + "\n");
}

void write_stderr(std::string_view text) {
    write_all(STDERR_FILENO, text);
}

bool stderr_is_terminal() {
    return isatty(STDERR_FILENO) != 0;
}

std::size_t stdout_columns() {
    return columns_of(STDOUT_FILENO);
}

std::size_t stderr_columns() {
    return columns_of(STDERR_FILENO);
}

}  // namespace vsb::cli
