#pragma once
// Where a guest's kernel comes from: a file, a build tree, or a Debian package fetched once into
// the cache (apt-get download: nothing is installed and this machine's apt sources stay as they
// are).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/guest/machine.h"

namespace vsb::guest {

// A kernel to boot, checked to be what it is said to be.
struct Kernel {
    std::filesystem::path image;    // executable of UML, bzImage or vmlinux
    std::filesystem::path modules;  // folder below which its modules are; empty: none
    Vmm vmm = Vmm::uml;
    bool smp = false;     // UML: has more than one CPU
    std::string release;  // "7.2.13", as far as the image or its folder tells; may be empty
    std::string source;   // as the state named it
    // CONFIG_X -> y, m or a value, from the configuration inside the image or beside it; empty when
    // there is none.
    std::map<std::string, std::string> config;
};

// $XDG_CACHE_HOME/vsockbench, else $HOME/.cache/vsockbench; the caller reads the environment.
// Throws std::invalid_argument when neither is absolute.
std::filesystem::path cache_folder(const char* xdg_cache_home, const char* home);

struct KernelRequest {
    std::string kernel;   // as in GuestState
    std::string modules;  // likewise
    std::filesystem::path cache;
    std::function<void(const std::string&)> say = {};  // progress: "fetching ..."
    std::function<bool()> stop = {};
};

// This machine cannot fetch the kernel: no apt, no network, no such package.
struct KernelUnavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Throws std::invalid_argument (no such file, no kernel, one without vsock or virtio) or
// KernelUnavailable, saying how to mend it.
Kernel find_kernel(const KernelRequest& request);

// What a file is, by its first bytes: an ELF executable of UML (it has a program interpreter or
// names itself), a vmlinux, or a bzImage. Throws std::invalid_argument for anything else.
enum class ImageKind : std::uint8_t { uml, vmlinux, bzimage };
ImageKind image_kind(const std::filesystem::path& image);

// "CONFIG_A=y" lines. Others are skipped.
std::map<std::string, std::string> parse_config(std::string_view text);
// The configuration that CONFIG_IKCONFIG put into an uncompressed image ("IKCFG_ST"), or empty.
std::string embedded_config(const std::filesystem::path& image);

// What the configuration lacks for a guest on this machine and topology, one sentence each; empty
// when nothing is known to be missing.
std::vector<std::string> missing_options(const std::map<std::string, std::string>& config, Vmm vmm,
                                         Topology topology, bool has_modules);
// Likewise for the guest that is the host of topology nested.
std::vector<std::string> missing_hypervisor_options(
    const std::map<std::string, std::string>& config, bool intel, bool has_modules);

}  // namespace vsb::guest
