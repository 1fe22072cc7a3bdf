#include "harness/guest/initramfs.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxProgram = std::size_t{64} << 20;

std::string read_program(const fs::path& folder, const char* name) {
    const fs::path path = folder / name;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
        throw std::invalid_argument("the program " + path.string() +
                                    " is not there (build it: cmake --build)");
    }
    std::string bytes = read_unpacked(path, kMaxProgram);
    // A program that needs a loader or libraries cannot start in a guest that has neither.
    if (!bytes.starts_with("\177ELF")) {
        throw std::invalid_argument("the program " + path.string() + " is not an ELF file");
    }
    if (bytes.find("/ld-linux") != std::string::npos &&
        bytes.find("libc.so.6") != std::string::npos) {
        throw std::invalid_argument("the program " + path.string() +
                                    " is not static (sanitizer builds have no guest tools)");
    }
    return bytes;
}

std::vector<std::string> builtin_modules(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().filename() != "modules.builtin") continue;
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            names.push_back(module_name(fs::path(line).filename().string()));
        }
    }
    return names;
}

}  // namespace

Programs read_programs(const fs::path& folder) {
    return {read_program(folder, "vsb-init"), read_program(folder, "vsb-receiver"),
            read_program(folder, "vsb-sender"), read_program(folder, "vsb-pingpong")};
}

std::vector<std::string> wanted_modules(Vmm vmm, Topology topology) {
    std::vector<std::string> wanted;
    if (vmm == Vmm::qemu) wanted = {"virtio_pci", "virtio_console", "pvpanic_pci"};
    if (vmm == Vmm::uml && topology != Topology::loopback) wanted = {"virtio_uml"};
    wanted.emplace_back(topology == Topology::loopback ? "vsock_loopback"
                                                       : "vmw_vsock_virtio_transport");
    return wanted;
}

std::vector<std::string> hypervisor_modules(bool intel) {
    return {"virtio_pci", "virtio_console", "pvpanic_pci", intel ? "kvm_intel" : "kvm_amd",
            "vhost_vsock"};
}

std::vector<LoadedModule> modules_for(const Kernel& kernel,
                                      const std::vector<std::string>& wanted) {
    if (kernel.modules.empty()) return {};
    return select_modules(find_modules(kernel.modules), wanted, builtin_modules(kernel.modules));
}

std::vector<CpioNode> initramfs_nodes(const Programs& programs,
                                      const std::vector<LoadedModule>& modules) {
    std::vector<CpioNode> nodes;
    for (const char* folder : {"dev", "proc", "sys", "tmp", "modules"}) {
        nodes.push_back({folder, NodeKind::directory, 0755, "", 0, 0});
    }
    nodes.push_back({"dev/console", NodeKind::character_device, 0600, "", 5, 1});
    nodes.push_back({"init", NodeKind::file, 0755, programs.init, 0, 0});
    nodes.push_back({"vsb-receiver", NodeKind::file, 0755, programs.receiver, 0, 0});
    nodes.push_back({"vsb-sender", NodeKind::file, 0755, programs.sender, 0, 0});
    nodes.push_back({"vsb-pingpong", NodeKind::file, 0755, programs.pingpong, 0, 0});
    int number = 0;
    for (const LoadedModule& module : modules) {
        std::string digits = std::to_string(number++);
        digits.insert(0, 3 - std::min<std::size_t>(3, digits.size()), '0');
        nodes.push_back({"modules/" + digits + "-" + module.name + ".ko", NodeKind::file, 0644,
                         module.bytes, 0, 0});
    }
    return nodes;
}

}  // namespace vsb::guest
