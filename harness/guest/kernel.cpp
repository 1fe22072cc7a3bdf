#include "harness/guest/kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "harness/guest/archive.h"
#include "harness/guest/fetch.h"
#include "harness/guest/module.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using std::string_view;

constexpr std::size_t kMaxImage = std::size_t{1} << 30;
constexpr string_view kBanner = "Linux version ";

[[noreturn]] void reject(const fs::path& path, const std::string& why) {
    throw std::invalid_argument("kernel '" + path.string() + "': " + why);
}

std::string slurp(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) reject(path, "a folder (name the image in it)");
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) reject(path, error.message());
    if (size > kMaxImage) reject(path, "larger than 1 GiB");
    std::ifstream file(path, std::ios::binary);
    std::string bytes(size, '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(size)))
        reject(path, "cannot be read");
    return bytes;
}

template <typename T>
T field(string_view bytes, std::uint64_t at) {
    T value = 0;
    if (at > bytes.size() || bytes.size() - at < sizeof(T)) return 0;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
}

std::optional<ImageKind> kind_of(string_view bytes) {
    if (bytes.size() > 0x206 && bytes.substr(0x202, 4) == "HdrS") return ImageKind::bzimage;
    if (!bytes.starts_with("\177ELF") || bytes.find(kBanner) == string_view::npos) return {};
    // A kernel proper lives in the upper half of the address space; UML is a program.
    const auto table = field<std::uint64_t>(bytes, 32);
    const auto entry = field<std::uint16_t>(bytes, 54);
    const auto count = field<std::uint16_t>(bytes, 56);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t header = table + i * entry;
        constexpr std::uint32_t kLoad = 1;
        if (field<std::uint32_t>(bytes, header) == kLoad &&
            field<std::uint64_t>(bytes, header + 16) >> 63 != 0) {
            return ImageKind::vmlinux;
        }
    }
    return ImageKind::uml;
}

// "Linux version 7.2.13 (...) #1 SMP ...": the whole banner.
string_view banner_of(string_view bytes) {
    std::size_t at = 0;
    while ((at = bytes.find(kBanner, at)) != string_view::npos) {
        const string_view rest = bytes.substr(at, 512);
        if (rest.size() > kBanner.size() && rest[kBanner.size()] >= '0' &&
            rest[kBanner.size()] <= '9') {
            return rest.substr(0, std::min(rest.find_first_of({"\0\n", 2}), rest.size()));
        }
        at += kBanner.size();
    }
    return {};
}

string_view first_word(string_view text) {
    return text.substr(0, text.find_first_of(" \t\n"));
}

// A bzImage names its release behind the set-up header's pointer to it.
std::string bzimage_release(string_view bytes) {
    const std::size_t at = std::size_t{field<std::uint16_t>(bytes, 0x20e)} + 0x200;
    if (at == 0x200 || at >= bytes.size()) return {};
    const string_view text = bytes.substr(at, 128);
    return std::string(first_word(text.substr(0, text.find('\0'))));
}

std::string embedded_config_of(string_view bytes) {
    constexpr string_view kStart = "IKCFG_ST";
    const std::size_t start = bytes.find(std::string(kStart) + "\037\213");
    if (start == string_view::npos) return {};
    const std::size_t end = bytes.find("IKCFG_ED", start);
    if (end == string_view::npos) return {};
    return unpack_bytes(bytes.substr(start + kStart.size(), end - start - kStart.size()),
                        std::size_t{16} << 20);
}

// The image within a kernel's build tree.
fs::path in_build_tree(const fs::path& folder) {
    for (const char* name : {"linux", "arch/x86/boot/bzImage", "vmlinux"}) {
        if (fs::is_regular_file(folder / name)) return folder / name;
    }
    reject(folder, "no linux, arch/x86/boot/bzImage or vmlinux in it (build it first)");
}

std::map<std::string, std::string> config_beside(const fs::path& image) {
    const std::string name = image.filename().string();
    const std::string suffix = name.starts_with("vmlinuz-") ? name.substr(8) : "";
    for (const fs::path& candidate :
         {image.parent_path() / ".config", image.parent_path() / ("config-" + suffix),
          image.parent_path() / "../../../.config"}) {
        if (fs::is_regular_file(candidate)) return parse_config(slurp(candidate));
    }
    return {};
}

Kernel from_image(const fs::path& image) {
    const std::string bytes = slurp(image);
    const auto kind = kind_of(bytes);
    if (!kind) reject(image, "no Linux kernel (UML executable, bzImage or vmlinux)");
    Kernel kernel;
    kernel.image = fs::absolute(image);
    kernel.vmm = *kind == ImageKind::uml ? Vmm::uml : Vmm::qemu;
    if (*kind == ImageKind::bzimage) {
        kernel.release = bzimage_release(bytes);
        kernel.smp = true;
    } else {
        const string_view banner = banner_of(bytes);
        kernel.release = first_word(banner.substr(std::min(kBanner.size(), banner.size())));
        kernel.smp = banner.find(" SMP ") != string_view::npos;
    }
    kernel.config = parse_config(embedded_config_of(bytes));
    if (kernel.config.empty()) kernel.config = config_beside(kernel.image);
    return kernel;
}

std::vector<std::string> missing_of(const std::map<std::string, std::string>& config,
                                    const std::vector<std::string>& names, bool has_modules) {
    std::vector<std::string> missing;
    if (config.empty()) return missing;
    for (const std::string& name : names) {
        const auto at = config.find(name);
        if (at == config.end()) {
            missing.push_back(name + " is not set");
        } else if (at->second == "m" && !has_modules) {
            missing.push_back(name + "=m, and no modules were given (modules=DIR)");
        }
    }
    return missing;
}

bool has(const std::map<std::string, fs::path>& modules, const char* name) {
    return modules.contains(name);
}

void check_modules(const Kernel& kernel) {
    const auto modules = find_modules(kernel.modules);
    if (kernel.config.empty() && !has(modules, "vmw_vsock_virtio_transport")) {
        reject(kernel.modules, "no vmw_vsock_virtio_transport module below it");
    }
}

}  // namespace

fs::path cache_folder(const char* xdg_cache_home, const char* home) {
    if (xdg_cache_home != nullptr && xdg_cache_home[0] == '/') {
        return fs::path(xdg_cache_home) / "vsockbench";
    }
    if (home != nullptr && home[0] == '/') return fs::path(home) / ".cache/vsockbench";
    throw std::invalid_argument(
        "no folder for kernels: neither XDG_CACHE_HOME nor HOME is an absolute path");
}

ImageKind image_kind(const fs::path& image) {
    const auto kind = kind_of(slurp(image));
    if (!kind) reject(image, "no Linux kernel (UML executable, bzImage or vmlinux)");
    return *kind;
}

std::map<std::string, std::string> parse_config(string_view text) {
    std::map<std::string, std::string> config;
    while (!text.empty()) {
        const string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::size_t equals = line.find('=');
        if (line.starts_with("CONFIG_") && equals != string_view::npos) {
            config.emplace(line.substr(0, equals), line.substr(equals + 1));
        }
    }
    return config;
}

std::string embedded_config(const fs::path& image) {
    return embedded_config_of(slurp(image));
}

std::vector<std::string> missing_options(const std::map<std::string, std::string>& config, Vmm vmm,
                                         Topology topology, bool has_modules) {
    std::vector<std::string> names{"CONFIG_BLK_DEV_INITRD", "CONFIG_PROC_FS", "CONFIG_VSOCKETS"};
    names.emplace_back(topology == Topology::loopback ? "CONFIG_VSOCKETS_LOOPBACK"
                                                      : "CONFIG_VIRTIO_VSOCKETS");
    if (vmm == Vmm::uml) {
        names.emplace_back("CONFIG_SSL");
        if (topology != Topology::loopback) names.emplace_back("CONFIG_VIRTIO_UML");
    } else {
        names.insert(names.end(), {"CONFIG_VIRTIO_PCI", "CONFIG_VIRTIO_CONSOLE"});
    }
    return missing_of(config, names, has_modules);
}

std::vector<std::string> missing_hypervisor_options(
    const std::map<std::string, std::string>& config, bool intel, bool has_modules) {
    return missing_of(config,
                      {"CONFIG_BLK_DEV_INITRD", "CONFIG_PROC_FS", "CONFIG_DEVTMPFS",
                       "CONFIG_VIRTIO_PCI", "CONFIG_VIRTIO_CONSOLE", "CONFIG_VHOST_VSOCK",
                       intel ? "CONFIG_KVM_INTEL" : "CONFIG_KVM_AMD"},
                      has_modules);
}

Kernel find_kernel(const KernelRequest& request) {
    const std::string& name = request.kernel;
    Kernel kernel;
    if (name == "debian-uml" || name == "debian" || name.starts_with("debian:")) {
        const Fetched fetched = fetch_debian_kernel(name, request.cache, request.say, request.stop);
        kernel = from_image(fetched.image);
        kernel.modules = fetched.modules;
        if (!fetched.config.empty()) kernel.config = parse_config(slurp(fetched.config));
    } else {
        const fs::path path(name);
        std::error_code error;
        if (!fs::exists(path, error)) {
            reject(path, "no such file (debian, debian:SUITE and debian-uml are fetched)");
        }
        kernel = from_image(fs::is_directory(path) ? in_build_tree(path) : path);
    }
    if (!request.modules.empty()) kernel.modules = request.modules;
    kernel.source = name;
    if (!kernel.modules.empty()) {
        if (!fs::is_directory(kernel.modules)) reject(kernel.modules, "no folder of modules");
        check_modules(kernel);
    }
    return kernel;
}

}  // namespace vsb::guest
