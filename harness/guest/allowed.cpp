#include "harness/guest/allowed.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/guest/children.h"
#include "harness/guest/machine.h"

namespace vsb::guest {

namespace fs = std::filesystem;

std::string why_no_memory_in(const fs::path& folder, std::uint64_t bytes) {
    const auto because = [&](const char* what) {
        return folder.string() + ": " + what + ": " + std::strerror(errno);
    };
    std::string name = (folder / "vsb-XXXXXX").string();
    const Fd file(mkostemp(name.data(), O_CLOEXEC));
    if (!file) return because("no file can be made there");
    unlink(name.c_str());
    constexpr std::size_t kPage = 4096;
    if (ftruncate(file.get(), kPage) != 0) return because("no file can grow there");
    void* page =
        mmap(nullptr, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, file.get(), 0);
    if (page == MAP_FAILED) return because("no file can be mapped executable (mounted noexec?)");
    munmap(page, kPage);
    struct statvfs space {};
    if (fstatvfs(file.get(), &space) != 0) return because("its space is unknown");
    const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
    if (free >= bytes) return {};
    return folder.string() + ": " + std::to_string(free >> 20) + " MiB are free, a guest needs " +
           std::to_string(bytes >> 20);
}

fs::path best_scratch(const std::vector<fs::path>& folders) {
    for (const fs::path& one : folders) {
        if (why_no_memory_in(one, std::uint64_t{BootPlan{}.memory_mib} << 20).empty()) return one;
    }
    return folders.back();
}

std::string why_no_tracing() {
    const pid_t child = fork();
    if (child < 0) return std::string("no process can be started: ") + std::strerror(errno);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(errno & 0x7f);
        raise(SIGSTOP);
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, WUNTRACED) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) {
        return std::string("processes may not be traced here: ") +
               std::strerror(WEXITSTATUS(status));
    }
    const bool traced = ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD) == 0;
    const int error = errno;
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (traced) return {};
    return std::string("processes may not be traced here: ") + std::strerror(error);
}

}  // namespace vsb::guest
