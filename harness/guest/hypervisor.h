#pragma once
// Topology nested: what the initramfs of the guest that is the host holds besides the tools: QEMU
// with its libraries and firmware, taken from this machine's packages, and the second guest.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/guest/archive.h"

namespace vsb::guest {

// Where the second guest's files are in the first one.
inline constexpr const char* kInnerQemu = "/usr/bin/qemu-system-x86_64";
inline constexpr const char* kInnerFirmware = "/qemu";
inline constexpr const char* kInnerKernel = "/inner/kernel";
inline constexpr const char* kInnerInitrd = "/inner/initrd";

// The files that a program loads, from what ldd prints of it. Throws std::runtime_error naming a
// library that was not found.
std::vector<std::string> parse_ldd(std::string_view text);

// A program's file: a name without a slash is looked for in /usr/bin and /usr/local/bin. Throws
// KernelUnavailable saying how to get it.
std::filesystem::path find_qemu(const std::string& name);

// The nodes to add to initramfs_nodes(). Throws KernelUnavailable or std::runtime_error naming what
// is missing.
std::vector<CpioNode> hypervisor_nodes(const std::filesystem::path& qemu,
                                       const std::filesystem::path& inner_kernel,
                                       const std::filesystem::path& inner_initrd,
                                       const std::function<bool()>& stop);

}  // namespace vsb::guest
