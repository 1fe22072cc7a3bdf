#include "harness/guest/init/machine.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#if defined(__x86_64__)
#include <sys/io.h>
#endif

namespace vsb::guest {
namespace {

constexpr std::string_view kVsockDevice = "0x0013";  // VIRTIO_ID_VSOCK

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string write_file(const std::string& path, const std::string& text) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return path + ": " + strerror(errno);
    const ssize_t n = write(fd, text.data(), text.size());
    const int error = errno;
    close(fd);
    if (n != static_cast<ssize_t>(text.size())) return path + ": " + strerror(error);
    return {};
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    DIR* open_folder = opendir(folder.c_str());
    if (open_folder == nullptr) return names;
    while (const dirent* entry = readdir(open_folder)) {  // NOLINT(concurrency-mt-unsafe)
        if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
    }
    closedir(open_folder);
    std::sort(names.begin(), names.end());
    return names;
}

std::string mount_one(const char* type, const char* where) {
    mkdir(where, 0755);
    if (mount(type, where, type, 0, nullptr) == 0) return {};
    if (errno == EBUSY) return {};
    return std::string("mounting ") + type + ": " + strerror(errno);
}

// A node by the numbers that sysfs tells, where devtmpfs made none.
void make_node(const std::string& path, const std::string& numbers_file) {
    unsigned major_number = 0;
    unsigned minor_number = 0;
    const std::string numbers = first_line(numbers_file);
    if (std::sscanf(numbers.c_str(), "%u:%u", &major_number, &minor_number) == 2) {
        mknod(path.c_str(), S_IFCHR | 0600, makedev(major_number, minor_number));
    }
}

std::string port_named(const std::string& name) {
    const std::string base = "/sys/class/virtio-ports/";
    for (const std::string& port : names_in(base)) {
        if (first_line(base + port + "/name") != name) continue;
        make_node("/dev/" + port, base + port + "/dev");
        return "/dev/" + port;
    }
    return {};
}

// "virtio0" or, in UML, "virtio-uml.0": the start of the interrupts' names.
std::vector<std::string> vsock_interrupt_prefixes() {
    std::vector<std::string> prefixes;
    const std::string base = "/sys/bus/virtio/devices/";
    for (const std::string& device : names_in(base)) {
        if (first_line(base + device + "/device") != kVsockDevice) continue;
        prefixes.push_back(device + "-");
    }
    if (!prefixes.empty()) prefixes.emplace_back("virtio-uml.");
    return prefixes;
}

struct Interrupt {
    std::string number;
    std::string name;
    std::uint64_t count = 0;  // all CPUs
};

std::vector<Interrupt> vsock_interrupts() {
    std::vector<Interrupt> found;
    const auto prefixes = vsock_interrupt_prefixes();
    std::istringstream lines(read_file("/proc/interrupts"));
    std::string line;
    std::getline(lines, line);  // the CPUs
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        Interrupt one;
        std::string word;
        words >> one.number;
        if (one.number.empty() || one.number.back() != ':') continue;
        one.number.pop_back();
        bool counting = true;
        while (words >> word) {
            const bool digits = word.find_first_not_of("0123456789") == std::string::npos;
            counting = counting && digits;
            if (counting) one.count += std::strtoull(word.c_str(), nullptr, 10);
            while (!word.empty() && word.back() == ',')
                word.pop_back();
            for (const std::string& prefix : prefixes) {
                if (word.starts_with(prefix)) one.name += (one.name.empty() ? "" : ",") + word;
            }
        }
        if (!one.name.empty()) found.push_back(one);
    }
    return found;
}

}  // namespace

std::vector<std::string> mount_file_systems() {
    std::vector<std::string> trouble;
    for (const auto& [type, where] :
         {std::pair{"proc", "/proc"}, std::pair{"sysfs", "/sys"}, std::pair{"tmpfs", "/tmp"}}) {
        if (std::string error = mount_one(type, where); !error.empty()) trouble.push_back(error);
    }
    if (!mount_one("devtmpfs", "/dev").empty()) mount_one("tmpfs", "/dev");
    mknod("/dev/null", S_IFCHR | 0666, makedev(1, 3));
    return trouble;
}

std::vector<std::string> load_modules() {
    std::vector<std::string> trouble;
    for (const std::string& name : names_in("/modules")) {
        const std::string path = "/modules/" + name;
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        const bool loaded = fd >= 0 && syscall(SYS_finit_module, fd, "", 0) == 0;
        if (!loaded && errno != EEXIST) {
            trouble.push_back("module " + name + ": " + strerror(errno));
        }
        if (fd >= 0) close(fd);
        unlink(path.c_str());
    }
    return trouble;
}

int open_channel(const std::string& where) {
    constexpr int kTries = 1000;  // of 10 ms: a device may still be probing
    for (int i = 0; i < kTries; ++i) {
        std::string path = where;
        if (where.starts_with("port:")) {
            path = port_named(where.substr(5));
        } else if (where.starts_with("/dev/")) {
            make_node(path, "/sys/class/tty/" + where.substr(5) + "/dev");
        }
        const int fd = path.empty() ? -1 : open(path.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (fd >= 0) {
            termios raw{};
            if (tcgetattr(fd, &raw) == 0) {
                cfmakeraw(&raw);
                tcsetattr(fd, TCSANOW, &raw);
            }
            return fd;
        }
        poll(nullptr, 0, 10);
    }
    return -1;
}

std::string command_line_value(const std::string& key) {
    std::istringstream words(read_file("/proc/cmdline"));
    std::string word;
    while (words >> word) {
        if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
    }
    return {};
}

std::string pin_interrupts(int cpu) {
    const auto interrupts = vsock_interrupts();
    if (interrupts.empty()) return "there is no virtio-vsock interrupt";
    std::string error;
    for (const Interrupt& one : interrupts) {
        const std::string list = "/proc/irq/" + one.number + "/smp_affinity_list";
        const std::string failed = write_file(list, std::to_string(cpu) + "\n");
        if (!failed.empty()) error = failed;
    }
    return error;
}

std::string set_sysctl(const std::string& name, const std::string& value) {
    std::string path = "/proc/sys/";
    for (const char c : name)
        path += c == '.' ? '/' : c;
    return write_file(path, value + "\n");
}

GuestCounters read_counters() {
    GuestCounters counters;
    std::uint64_t rx = 0;
    bool seen = false;
    for (const Interrupt& one : vsock_interrupts()) {
        if (one.name.find("-rx") == std::string::npos) continue;
        rx += one.count;
        seen = true;
    }
    if (seen) counters.emplace_back("irq_rx", rx);
    std::istringstream stat(read_file("/proc/stat"));
    std::string line;
    while (std::getline(stat, line)) {
        if (!line.starts_with("ctxt ")) continue;
        counters.emplace_back("context_switches", std::strtoull(line.c_str() + 5, nullptr, 10));
    }
    std::istringstream schedstat(read_file("/proc/schedstat"));
    while (std::getline(schedstat, line)) {
        std::istringstream words(line);
        std::string cpu;
        words >> cpu;
        if (!cpu.starts_with("cpu")) continue;
        std::uint64_t value = 0;
        for (int i = 0; i < 7 && words >> value; ++i) {
        }
        if (words) counters.emplace_back(cpu + "_run_ns", value);  // the seventh: time running
    }
    return counters;
}

int online_cpus() {
    return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

void power_off(int status) {
    sync();
#if defined(__x86_64__)
    // QEMU's isa-debug-exit: the status of QEMU becomes 2n+1. Nothing listens there in UML, where
    // the instruction itself would be fatal.
    if (status > 0 && access("/sys/bus/pci/devices", F_OK) == 0 && ioperm(0x501, 4, 1) == 0) {
        outl(static_cast<unsigned>(status), 0x501);
    }
#endif
    reboot(RB_POWER_OFF);
    for (;;)
        pause();
}

}  // namespace vsb::guest
