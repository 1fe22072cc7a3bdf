#include "harness/environment.h"

#include <fstream>
#include <system_error>

#include "harness/build_facts.h"
#include "harness/cpus.h"
#include "harness/machine_text.h"

namespace vsb::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 256 * 1024;

// Empty when it cannot be read: these files differ between kernels and machines.
std::string read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text(kMaxFileBytes, '\0');
    if (!in) return {};
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

std::string one_line(const fs::path& file) {
    std::string text = read(file);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    return text;
}

std::map<int, std::string> read_governors(const fs::path& cpus, const std::string& online) {
    std::map<int, std::string> governors;
    try {
        for (const int cpu : parse_cpu_list(online)) {
            std::string text =
                read(cpus / ("cpu" + std::to_string(cpu)) / "cpufreq/scaling_governor");
            if (!text.empty()) governors[cpu] = std::move(text);
        }
    } catch (const std::invalid_argument&) {
        governors.clear();  // no list of CPUs, no governors
    }
    return governors;
}

std::map<std::string, std::string> read_folder(const fs::path& folder) {
    std::map<std::string, std::string> texts;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        texts[at->path().filename().string()] = read(at->path());
    }
    return texts;
}

std::string or_unknown(const std::string& text) {
    return text.empty() ? std::string(kUnknown) : text;
}

}  // namespace

Environment read_environment(const fs::path& root) {
    const fs::path proc = root / "proc";
    const fs::path cpus = root / "sys/devices/system/cpu";
    const std::string cpuinfo = read(proc / "cpuinfo");
    const std::string online = one_line(cpus / "online");
    const std::string isolated = one_line(cpus / "isolated");
    const fs::path dmi = root / "sys/class/dmi/id";

    Environment environment;
    environment["kernel"] =
        kernel_line(read(proc / "sys/kernel/ostype"), read(proc / "sys/kernel/osrelease"),
                    read(proc / "sys/kernel/arch"));
    environment["cpu_model"] = cpu_model(cpuinfo);
    environment["cpus_online"] = or_unknown(online);
    environment["cpus_allowed"] = cpus_allowed_list(read(proc / "self/status"));
    environment["governor"] = governor_line(read_governors(cpus, online));
    environment["turbo"] =
        turbo_line(read(cpus / "intel_pstate/no_turbo"), read(cpus / "cpufreq/boost"));
    environment["smt"] = smt_line(read(cpus / "smt/active"), read(cpus / "smt/control"));
    environment["mitigations"] =
        mitigations_line(read_folder(cpus / "vulnerabilities"), read(proc / "cmdline"));
    environment["isolated_cpus"] = isolated.empty() ? "none" : isolated;
    environment["clock_source"] = or_unknown(
        one_line(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"));
    environment["virtualization"] =
        virtualization_line(cpuinfo, read(dmi / "sys_vendor"), read(dmi / "product_name"),
                            read(root / "sys/hypervisor/type"));
    environment["compiler"] = kCompiler;
    environment["build_type"] = kBuildType;
    return environment;
}

std::string read_load(const fs::path& root) {
    return load_average(read(root / "proc/loadavg"));
}

}  // namespace vsb::harness
