#pragma once
// What a guest's initramfs holds: PID 1, the three tools, and the modules the topology needs.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/guest/archive.h"
#include "harness/guest/kernel.h"
#include "harness/guest/machine.h"
#include "harness/guest/module.h"

namespace vsb::guest {

// Where vsb-init and the tools are: the folder of the programs.
struct Programs {
    std::string init;
    std::string receiver;
    std::string sender;
    std::string pingpong;
};

// Reads them. Throws std::invalid_argument naming the one that is missing, or is not static.
Programs read_programs(const std::filesystem::path& folder);

// Modules a guest needs, by name; those that are built in need not be there.
std::vector<std::string> wanted_modules(Vmm vmm, Topology topology);
// Topology nested, of the guest that is the host: vhost-vsock and KVM, as the CPU virtualizes.
std::vector<std::string> hypervisor_modules(bool intel);

// The modules to load, chosen by their own depends lists from the kernel's folder; none for a
// kernel without modules. Throws std::invalid_argument.
std::vector<LoadedModule> modules_for(const Kernel& kernel, const std::vector<std::string>& wanted);

// The entries, in order. Modules load in the order of their names: 000-vsock.ko, ...
std::vector<CpioNode> initramfs_nodes(const Programs& programs,
                                      const std::vector<LoadedModule>& modules);

}  // namespace vsb::guest
