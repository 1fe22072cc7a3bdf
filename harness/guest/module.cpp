#include "harness/guest/module.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>

#include "harness/guest/archive.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using std::string_view;

constexpr std::size_t kMaxModule = std::size_t{64} << 20;

[[noreturn]] void bad_elf(const std::string& why) {
    throw std::invalid_argument("no kernel module: " + why);
}

// Little endian at an offset that must be inside.
template <typename T>
T field(string_view elf, std::uint64_t at) {
    if (at > elf.size() || elf.size() - at < sizeof(T)) bad_elf("it ends within a header");
    T value = 0;
    std::memcpy(&value, elf.data() + at, sizeof(T));
    return value;
}

string_view section(string_view elf, std::uint64_t header) {
    field<std::uint64_t>(elf, header + 56);  // the last of it
    const auto offset = field<std::uint64_t>(elf, header + 24);
    const auto size = field<std::uint64_t>(elf, header + 32);
    if (offset > elf.size() || elf.size() - offset < size) bad_elf("a section lies outside");
    return elf.substr(offset, size);
}

string_view c_string(string_view table, std::size_t at) {
    if (at >= table.size()) bad_elf("a name lies outside its table");
    return table.substr(at, std::min(table.find('\0', at), table.size()) - at);
}

std::string normalised(string_view name) {
    std::string text(name);
    std::ranges::replace(text, '-', '_');
    return text;
}

string_view modinfo_section(string_view elf) {
    if (!elf.starts_with("\177ELF")) bad_elf("it is not an ELF file");
    if (elf.size() < 64 || elf[4] != 2 || elf[5] != 1) bad_elf("not 64 bit, little endian");
    const auto sections = field<std::uint64_t>(elf, 40);
    const auto entry = field<std::uint16_t>(elf, 58);
    const auto count = field<std::uint16_t>(elf, 60);
    const auto names_at = field<std::uint16_t>(elf, 62);
    if (entry < 64 || names_at >= count || sections > elf.size()) bad_elf("a bad section table");
    const string_view names = section(elf, sections + std::uint64_t{names_at} * entry);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t header = sections + i * entry;
        if (c_string(names, field<std::uint32_t>(elf, header)) == ".modinfo") {
            return section(elf, header);
        }
    }
    bad_elf("it has no .modinfo section");
}

class Selection {
  public:
    Selection(const std::map<std::string, fs::path>& available,
              const std::vector<std::string>& builtin)
        : available_(available), builtin_(builtin) {}

    void add(const std::string& name, const std::string& needed_by) {
        if (done_.contains(name)) return;
        if (!open_.insert(name).second) {
            throw std::invalid_argument("modules depend on each other in a circle: " + name);
        }
        const auto at = available_.find(name);
        if (at == available_.end()) {
            const bool known = std::ranges::find(builtin_, name) != builtin_.end();
            if (!needed_by.empty() && !known) {
                throw std::invalid_argument("module " + name + ", needed by " + needed_by +
                                            ", is not in the modules' folder");
            }
        } else {
            std::string bytes = read_module(at->second);
            for (const std::string& one : read_modinfo(bytes).depends)
                add(one, name);
            order.push_back({name, std::move(bytes)});
        }
        open_.erase(name);
        done_.insert(name);
    }

    std::vector<LoadedModule> order;

  private:
    const std::map<std::string, fs::path>& available_;
    const std::vector<std::string>& builtin_;
    std::set<std::string> open_;
    std::set<std::string> done_;
};

}  // namespace

ModuleInfo read_modinfo(string_view elf) {
    ModuleInfo info;
    string_view rest = modinfo_section(elf);
    while (!rest.empty()) {
        const string_view item = rest.substr(0, std::min(rest.find('\0'), rest.size()));
        rest.remove_prefix(std::min(item.size() + 1, rest.size()));
        const std::size_t equals = item.find('=');
        if (equals == string_view::npos) continue;
        const string_view key = item.substr(0, equals);
        string_view value = item.substr(equals + 1);
        if (key == "name") info.name = normalised(value);
        if (key == "vermagic") info.vermagic = value;
        if (key != "depends") continue;
        while (!value.empty()) {
            const string_view one = value.substr(0, std::min(value.find(','), value.size()));
            if (!one.empty()) info.depends.push_back(normalised(one));
            value.remove_prefix(std::min(one.size() + 1, value.size()));
        }
    }
    return info;
}

std::string module_name(string_view file_name) {
    for (const string_view packed : {".xz", ".gz", ".zst"}) {
        if (file_name.ends_with(packed)) file_name.remove_suffix(packed.size());
    }
    if (!file_name.ends_with(".ko")) return {};
    file_name.remove_suffix(3);
    return normalised(file_name);
}

std::map<std::string, fs::path> find_modules(const fs::path& folder) {
    std::map<std::string, fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file() || entry.is_symlink()) continue;
        const std::string name = module_name(entry.path().filename().string());
        if (!name.empty()) found.emplace(name, entry.path());
    }
    return found;
}

std::string read_module(const fs::path& file) {
    return read_unpacked(file, kMaxModule);
}

std::vector<LoadedModule> select_modules(const std::map<std::string, fs::path>& available,
                                         const std::vector<std::string>& wanted,
                                         const std::vector<std::string>& builtin) {
    Selection selection(available, builtin);
    for (const std::string& name : wanted)
        selection.add(normalised(name), {});
    return std::move(selection.order);
}

}  // namespace vsb::guest
