#include "harness/guest/hypervisor.h"

#include <array>
#include <fstream>
#include <set>
#include <stdexcept>

#include "harness/guest/children.h"
#include "harness/guest/kernel.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLddNs = 30'000'000'000;
constexpr std::uintmax_t kMaxFile = std::uintmax_t{512} << 20;
constexpr std::array kFirmware{"bios-256k.bin", "linuxboot_dma.bin", "kvmvapic.bin"};
constexpr std::array kFirmwareFolders{"/usr/share/seabios", "/usr/share/qemu",
                                      "/usr/local/share/qemu"};

// As it is: what read_unpacked() would make of a compressed kernel is no kernel.
std::string slurp(const fs::path& path) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (error || size > kMaxFile) {
        throw std::runtime_error(path.string() + ": " +
                                 (error ? error.message() : "larger than 512 MiB"));
    }
    std::string bytes(size, '\0');
    std::ifstream file(path, std::ios::binary);
    if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) {
        throw std::runtime_error(path.string() + " cannot be read");
    }
    return bytes;
}

// Files and the folders above them, each once.
class Nodes {
  public:
    void add(const std::string& path, const std::string& from, std::uint32_t mode) {
        const std::string name = path.substr(path.find_first_not_of('/'));
        if (!seen_.insert(name).second) return;
        add_folders(fs::path(name).parent_path().string());
        nodes_.push_back({name, NodeKind::file, mode, slurp(from), 0, 0});
    }
    std::vector<CpioNode> take() { return std::move(nodes_); }

  private:
    void add_folders(const std::string& folder) {
        if (folder.empty() || !seen_.insert(folder).second) return;
        add_folders(fs::path(folder).parent_path().string());
        nodes_.push_back({folder, NodeKind::directory, 0755, "", 0, 0});
    }

    std::set<std::string> seen_;
    std::vector<CpioNode> nodes_;
};

fs::path find_firmware(const char* name) {
    for (const char* folder : kFirmwareFolders) {
        fs::path path = fs::path(folder) / name;
        if (fs::is_regular_file(path)) return path;
    }
    throw KernelUnavailable(std::string("topology nested: QEMU's ") + name +
                            " is not there (./setup --guest installs it)");
}

std::string_view next_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

}  // namespace

std::vector<std::string> parse_ldd(std::string_view text) {
    std::vector<std::string> files;
    while (!text.empty()) {
        std::string_view line = next_line(text);
        if (line.find("not found") != std::string_view::npos) {
            throw std::runtime_error("a library is missing: " + std::string(line));
        }
        // "libz.so.1 => /lib/.../libz.so.1 (0x...)" or, of the loader, "/lib64/ld... (0x...)".
        const std::size_t slash = line.find('/');
        if (slash == std::string_view::npos) continue;
        line.remove_prefix(slash);
        files.emplace_back(line.substr(0, line.find(" (0x")));
    }
    return files;
}

fs::path find_qemu(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        if (fs::is_regular_file(name)) return name;
    } else {
        for (const char* folder : {"/usr/bin", "/usr/local/bin"}) {
            fs::path path = fs::path(folder) / name;
            if (fs::is_regular_file(path)) return path;
        }
    }
    throw KernelUnavailable("QEMU: no program " + name + " (./setup --guest installs it)");
}

std::vector<CpioNode> hypervisor_nodes(const fs::path& qemu, const fs::path& inner_kernel,
                                       const fs::path& inner_initrd,
                                       const std::function<bool()>& stop) {
    SpawnPlan plan;
    plan.argv = {"ldd", qemu.string()};
    plan.environment = {"LC_ALL=C"};
    const CommandResult ldd = run_command(plan, kLddNs, stop);
    if (ldd.status != ExitStatus{}) {
        throw std::runtime_error("ldd " + qemu.string() + " failed: " + describe(ldd.status));
    }
    Nodes nodes;
    nodes.add(kInnerQemu, qemu, 0755);
    for (const std::string& file : parse_ldd(ldd.output))
        nodes.add(file, file, 0755);
    for (const char* name : kFirmware)
        nodes.add(std::string(kInnerFirmware) + '/' + name, find_firmware(name), 0644);
    nodes.add(kInnerKernel, inner_kernel, 0644);
    nodes.add(kInnerInitrd, inner_initrd, 0644);
    return nodes.take();
}

}  // namespace vsb::guest
