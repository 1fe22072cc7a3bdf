#include "harness/cli/report_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "harness/cli/failure.h"

namespace vsb::cli {
namespace {

constexpr const char* kLock = ".nightly.lock";

[[noreturn]] void fail_unusable(const std::filesystem::path& path, int error) {
    throw Failure(kUsage, "--out: " + path.string() + ": cannot be written: " +
                              std::strerror(error) + " (choose another folder)");
}

[[noreturn]] void fail_unwritten(const std::filesystem::path& file, int error) {
    throw Failure(kNotMeasured, file.string() + ": cannot be written: " + std::strerror(error) +
                                    " (what was measured is in the store: vsockbench report and "
                                    "history show it)");
}

int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

ReportFolder::ReportFolder(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (error) fail_unusable(path_, error.value());
    const auto file = path_ / kLock;
    lock_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (lock_ < 0) fail_unusable(path_, errno);
    if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        const int why = errno;
        close(lock_);
        if (why != EWOULDBLOCK) fail_unusable(path_, why);
        throw Failure(kNotMeasured, "nightly: another one is under way in " + path_.string() +
                                        " (wait for it, or start them further apart)");
    }
}

ReportFolder::~ReportFolder() {
    close(lock_);
}

void ReportFolder::write(const std::string& night, const std::string& name,
                         std::string_view text) const {
    const auto folder = path_ / night;
    const auto file = folder / name;
    std::error_code made;
    std::filesystem::create_directory(folder, made);
    if (made) fail_unwritten(file, made.value());
    const auto beside = folder / ("." + name + ".part");
    const int fd =
        open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) fail_unwritten(file, errno);
    int error = write_all(fd, text);
    if (close(fd) != 0 && error == 0) error = errno;
    if (error == 0 && rename(beside.c_str(), file.c_str()) != 0) error = errno;
    if (error == 0) return;
    unlink(beside.c_str());
    fail_unwritten(file, error);
}

void ReportFolder::point_latest(const std::string& night) const {
    const auto link = path_ / "latest";
    const auto beside = path_ / ".latest.part";
    unlink(beside.c_str());
    if (symlink(night.c_str(), beside.c_str()) != 0) fail_unwritten(link, errno);
    if (rename(beside.c_str(), link.c_str()) == 0) return;
    const int error = errno;
    unlink(beside.c_str());
    fail_unwritten(link, error);
}

}  // namespace vsb::cli
