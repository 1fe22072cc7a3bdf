#include "harness/guest/fetch.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "harness/guest/archive.h"
#include "harness/guest/children.h"
#include "harness/guest/kernel.h"
#include "transport/fields.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using std::string_view;

constexpr std::uint64_t kFetchNs = 600'000'000'000;
constexpr string_view kMirror = "http://deb.debian.org/debian";
constexpr string_view kKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

bool keep_kernel(string_view path) {
    return path.starts_with("boot/vmlinuz") || path.starts_with("boot/config") ||
           path.starts_with("usr/bin/linux") || path.find("/modules/") != string_view::npos;
}

std::string last_line(const std::string& text) {
    const std::size_t end = text.find_last_not_of(" \n");
    if (end == std::string::npos) return "no word";
    const std::size_t start = text.rfind('\n', end);
    return text.substr(start == std::string::npos ? 0 : start + 1, end - start).substr(0, 300);
}

std::string run(const std::vector<std::string>& argv, const fs::path& folder,
                const std::function<bool()>& stop) {
    SpawnPlan plan;
    plan.argv = argv;
    plan.working_directory = folder.string();
    plan.environment = {"LC_ALL=C", "DEBIAN_FRONTEND=noninteractive"};
    CommandResult result;
    try {
        result = run_command(plan, kFetchNs, stop);
    } catch (const std::system_error& error) {
        throw KernelUnavailable("fetching a kernel: " + std::string(error.what()) +
                                " (kernel=FILE needs no apt)");
    }
    if (result.status != ExitStatus{}) {
        const std::string& text = result.output;
        throw KernelUnavailable(
            "fetching a kernel: " + argv[0] + " failed, " + describe(result.status) + ": " +
            transport::escape(last_line(text)) +
            " (it needs a network and apt-get update's lists; " + "kernel=FILE needs neither)");
    }
    return result.output;
}

void make_private(const fs::path& folder) {
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_all);
    struct stat status {};
    if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        (status.st_mode & 077) != 0) {
        throw std::runtime_error("the cache " + folder.string() + " is no private folder of ours");
    }
}

void check_suite(const std::string& suite) {
    const auto good = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
    if (suite.empty() || suite.size() > 40 || !std::ranges::all_of(suite, good)) {
        throw std::invalid_argument("kernel=debian:" + suite + ": no suite (trixie, sid, ...)");
    }
}

// Puts apt's root for a suite below `root` and returns apt's options for it.
std::vector<std::string> suite_options(const std::string& suite, const fs::path& root,
                                       const std::function<bool()>& stop) {
    for (const char* folder : {"lists/partial", "archives/partial"}) {
        fs::create_directories(root / folder);
    }
    std::ofstream(root / "sources.list")
        << "deb [signed-by=" << kKeyring << "] " << kMirror << ' ' << suite << " main\n";
    const std::vector<std::string> options = private_apt_options(root);
    std::vector<std::string> update{"apt-get"};
    update.insert(update.end(), options.begin(), options.end());
    update.insert(update.end(), {"--error-on=any", "update"});
    run(update, root, stop);
    return options;
}

std::string kernel_package(const std::vector<std::string>& options, const fs::path& folder,
                           const std::function<bool()>& stop) {
    std::vector<std::string> show{"apt-cache"};
    show.insert(show.end(), options.begin(), options.end());
    show.insert(show.end(), {"--no-all-versions", "show", "linux-image-amd64"});
    const auto name = kernel_package_of(run(show, folder, stop));
    if (!name) {
        throw std::runtime_error("linux-image-amd64 depends on no kernel (run apt-get update)");
    }
    return *name;
}

std::optional<Fetched> look(const fs::path& folder) {
    Fetched fetched;
    std::error_code error;
    if (fs::is_regular_file(folder / "usr/bin/linux.uml", error)) {
        fetched.image = folder / "usr/bin/linux.uml";
    } else if (fs::is_regular_file(folder / "usr/bin/linux", error)) {
        fetched.image = folder / "usr/bin/linux";
    }
    for (const auto& entry : fs::directory_iterator(folder / "boot", error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("vmlinuz")) fetched.image = entry.path();
        if (name.starts_with("config")) fetched.config = entry.path();
    }
    for (const char* modules : {"usr/lib/uml/modules", "usr/lib/modules", "lib/modules"}) {
        if (fs::is_directory(folder / modules, error)) fetched.modules = folder / modules;
    }
    if (fetched.image.empty() || fetched.modules.empty()) return std::nullopt;
    return fetched;
}

}  // namespace

std::vector<std::string> private_apt_options(const fs::path& root) {
    std::vector<std::string> options;
    for (const std::string& one :
         {"Dir::Etc::SourceList=" + (root / "sources.list").string(),
          std::string("Dir::Etc::SourceParts=/dev/null"),
          "Dir::State::Lists=" + (root / "lists").string(), "Dir::Cache=" + root.string(),
          std::string("Acquire::Languages=none"), std::string("APT::Sandbox::User=root")}) {
        options.emplace_back("-o");
        options.push_back(one);
    }
    return options;
}

std::optional<std::string> kernel_package_of(string_view control) {
    std::size_t at = control.starts_with("Depends: ") ? 0 : control.find("\nDepends: ");
    if (at == string_view::npos) return std::nullopt;
    string_view line = control.substr(control.find("Depends: ", at) + 9);
    line = line.substr(0, line.find('\n'));
    while (!line.empty()) {
        const string_view one = line.substr(0, std::min(line.find(','), line.size()));
        line.remove_prefix(std::min(one.size() + 1, line.size()));
        const std::size_t start = one.find_first_not_of(' ');
        if (start == string_view::npos) continue;
        const string_view name = one.substr(start).substr(0, one.substr(start).find(' '));
        if (name.starts_with("linux-image-")) return std::string(name);
    }
    return std::nullopt;
}

Fetched fetch_debian_kernel(const std::string& name, const fs::path& cache,
                            const std::function<void(const std::string&)>& say,
                            const std::function<bool()>& stop) {
    const std::string suite = name.starts_with("debian:") ? name.substr(7) : "";
    if (name.starts_with("debian:")) check_suite(suite);
    make_private(cache);
    std::string folder_name = "kernel-" + name;
    std::ranges::replace(folder_name, ':', '-');
    const fs::path folder = cache / folder_name;
    if (fs::is_directory(folder)) {
        if (auto found = look(folder)) return *found;
        throw std::runtime_error("the cache's " + folder.string() + " is not whole (remove it)");
    }
    const PrivateFolder work(cache.string());
    std::vector<std::string> options;
    if (!suite.empty()) {
        if (say) say("reading the package list of Debian's " + suite);
        options = suite_options(suite, fs::path(work.path()) / "apt", stop);
    } else {
        options = {"-o", "APT::Sandbox::User=root"};
    }
    const std::string package = name == "debian-uml" ? std::string("user-mode-linux")
                                                     : kernel_package(options, work.path(), stop);
    if (say) say("fetching " + package);
    std::vector<std::string> download{"apt-get"};
    download.insert(download.end(), options.begin(), options.end());
    download.insert(download.end(), {"-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=1",
                                     "download", package});
    run(download, work.path(), stop);
    const fs::path unpacked = fs::path(work.path()) / "root";
    fs::create_directory(unpacked);
    for (const auto& entry : fs::directory_iterator(work.path())) {
        if (entry.path().extension() == ".deb") unpack_deb(entry.path(), unpacked, keep_kernel);
    }
    if (!look(unpacked)) {
        throw std::runtime_error("package " + package + " holds no kernel with modules");
    }
    // In one step: another process may have been quicker, and then its copy is as good.
    std::error_code error;
    fs::rename(unpacked, folder, error);
    if (auto found = look(folder)) return *found;
    throw std::runtime_error("the cache " + folder.string() + ": " + error.message());
}

}  // namespace vsb::guest
