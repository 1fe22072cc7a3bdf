#pragma once
// A guest's state as users write it: kernel=KERNEL[,modules=DIR][,cmdline=TEXT][,pre=COMMAND]
// [,sysctl=KEY:VALUE][,policy=per-buffer|batched][,burst=N][,gap=NS]
// [,l1=KERNEL][,l1_modules=DIR][,l1_cmdline=TEXT]; `\,` is a literal comma.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vsb::guest {

// How the vhost-user device publishes used entries: one index update a buffer, or one a burst.
enum class Publication : std::uint8_t { per_buffer, batched };
std::string_view publication_name(Publication publication);

// What the device does with the guest's ring; the vhost side of a state.
struct DevicePolicy {
    Publication publication = Publication::per_buffer;
    std::uint32_t burst = 64;  // packets at most before the guest is signalled, 1 to 1024
    std::uint64_t gap_ns = 0;  // pause between two bursts, at most 1 s

    bool operator==(const DevicePolicy&) const = default;
};

struct GuestState {
    std::string kernel = "debian-uml";  // debian, debian:SUITE, debian-uml, a file or a build tree
    std::string modules;                // folder of the kernel's modules; empty: beside the kernel
    std::string cmdline;                // appended to the kernel's command line
    std::vector<std::string> pre;       // argv, run on this machine before each boot; no shell
    std::vector<std::pair<std::string, std::string>> sysctls;  // "net.core.rmem_max", "1048576"
    DevicePolicy policy;
    // Topology nested: of the guest that is the host. No kernel: the same as the guest's.
    std::string l1_kernel;
    std::string l1_modules;
    std::string l1_cmdline;

    bool operator==(const GuestState&) const = default;
};

// Throws std::invalid_argument: an unknown key, no kernel, a control character, a bad number, a
// sysctl that is not KEY:VALUE or leaves /proc/sys.
GuestState parse_guest_state(std::string_view spec);

}  // namespace vsb::guest
