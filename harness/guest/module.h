#pragma once
// Kernel modules: which of them a guest needs, in an order in which they load. Kernel packages ship
// no modules.dep.bin, so each module's own `depends` list (its .modinfo section) is read.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::guest {

struct ModuleInfo {
    std::string name;                  // '-' and '_' are the same in a module's name: all '_'
    std::vector<std::string> depends;  // names
    std::string vermagic;
};

// Reads the .modinfo section of an ELF64 relocatable object, every offset checked. Throws
// std::invalid_argument saying what is wrong.
ModuleInfo read_modinfo(std::string_view elf);

// A file name's module name: "vsock-loopback.ko.xz" -> "vsock_loopback"; empty if it is no module.
std::string module_name(std::string_view file_name);

// Every module below a folder, by name. Links are not followed.
std::map<std::string, std::filesystem::path> find_modules(const std::filesystem::path& folder);

// The file's bytes, uncompressed (.xz, .gz, .zst by libarchive), at most 64 MiB. Throws.
std::string read_module(const std::filesystem::path& file);

struct LoadedModule {
    std::string name;
    std::string bytes;
};

// The wanted modules and what they depend on, dependencies first. A wanted module that is not there
// is left out (it may be built in), and so is a dependency that `find_modules` did not see only if
// it is named in `builtin`; any other throws std::invalid_argument, and so does a cycle.
std::vector<LoadedModule> select_modules(
    const std::map<std::string, std::filesystem::path>& available,
    const std::vector<std::string>& wanted, const std::vector<std::string>& builtin);

}  // namespace vsb::guest
