#include "datasets/owner.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace vsb::datasets {
namespace {

struct ProcessStat {
    char state = '?';
    std::int64_t start_ticks = 0;
};

std::optional<ProcessStat> read_stat(std::int64_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    // The command in parentheses may itself hold blanks and parentheses; what follows cannot.
    const auto end_of_command = text.rfind(')');
    if (end_of_command == std::string::npos) return std::nullopt;
    std::istringstream fields(text.substr(end_of_command + 1));
    ProcessStat stat;
    fields >> stat.state;
    std::string skipped;
    constexpr int kFirstAfterState = 4;
    constexpr int kStartTime = 22;
    for (int field = kFirstAfterState; field < kStartTime; ++field)
        fields >> skipped;
    fields >> stat.start_ticks;
    if (!fields) return std::nullopt;
    return stat;
}

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

std::string pid_namespace() {
    std::array<char, 64> link{};
    const ssize_t size = readlink("/proc/self/ns/pid", link.data(), link.size());
    return size > 0 ? std::string(link.data(), static_cast<std::size_t>(size)) : std::string();
}

}  // namespace

Owner this_process() {
    Owner owner;
    owner.pid = getpid();
    if (const auto stat = read_stat(owner.pid)) owner.start_ticks = stat->start_ticks;
    owner.boot_id = boot_id();
    owner.pid_namespace = pid_namespace();
    return owner;
}

bool is_gone(const Owner& owner) {
    const std::string boot = boot_id();
    if (boot.empty()) return false;  // no /proc: nothing can be known
    if (owner.boot_id != boot) return true;
    if (owner.pid_namespace != pid_namespace()) return false;
    const auto stat = read_stat(owner.pid);
    if (!stat || stat->start_ticks != owner.start_ticks) return true;
    return stat->state == 'Z' || stat->state == 'X';
}

}  // namespace vsb::datasets
