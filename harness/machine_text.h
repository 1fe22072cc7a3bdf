#pragma once
// What the kernel's text files say about a machine: pure functions of their text. Hostile or empty
// text gives "unknown", never a throw.

#include <map>
#include <string>
#include <string_view>

namespace vsb::harness {

inline constexpr std::string_view kUnknown = "unknown";

// "model name" of /proc/cpuinfo (x86), else "CPU implementer"/"CPU part" (arm64).
std::string cpu_model(std::string_view cpuinfo);

// "Cpus_allowed_list" of /proc/self/status.
std::string cpus_allowed_list(std::string_view status);

// One-minute average of /proc/loadavg.
std::string load_average(std::string_view loadavg);

// "Linux 6.1.0-18-amd64 x86_64" of ostype, osrelease and machine.
std::string kernel_line(std::string_view ostype, std::string_view osrelease,
                        std::string_view machine);

// Governors of the CPUs by their number: one word when all agree, else "performance: 0-1; ...".
std::string governor_line(const std::map<int, std::string>& governors);

// intel_pstate/no_turbo ("0": on) or cpufreq/boost ("1": on); empty texts where there is no file.
std::string turbo_line(std::string_view no_turbo, std::string_view boost);

// smt/active ("1": on) and smt/control ("off", "notsupported", ...).
std::string smt_line(std::string_view active, std::string_view control);

// vulnerabilities/* by file name: what the CPU is not affected by is left out; "mitigations=off" of
// the kernel's command line stands first.
std::string mitigations_line(const std::map<std::string, std::string>& vulnerabilities,
                             std::string_view cmdline);

// What is known of a hypervisor: the DMI vendor and product, /sys/hypervisor/type, and the
// "hypervisor" flag of /proc/cpuinfo; "none seen" without any of them.
std::string virtualization_line(std::string_view cpuinfo, std::string_view dmi_vendor,
                                std::string_view dmi_product, std::string_view hypervisor_type);

}  // namespace vsb::harness
