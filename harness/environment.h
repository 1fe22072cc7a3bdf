#pragma once
// The machine a run was made on, as text by key: kernel, cpu_model, cpus_online, cpus_allowed,
// governor, turbo, smt, mitigations, isolated_cpus, clock_source, virtualization, compiler,
// build_type. Every key is always there; what cannot be read is "unknown".

#include <filesystem>
#include <map>
#include <string>

namespace vsb::harness {

using Environment = std::map<std::string, std::string>;

// Reads below `root`, which holds proc/ and sys/ ("/" for this machine, a folder for a test).
Environment read_environment(const std::filesystem::path& root = "/");

// The load average at this moment, for load_start and load_end.
std::string read_load(const std::filesystem::path& root = "/");

}  // namespace vsb::harness
