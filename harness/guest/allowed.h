#pragma once
// What this machine lets User Mode Linux do: in a container or a chroot that may be less than it
// needs.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vsb::guest {

// Empty, or why a folder cannot hold a UML guest's memory: a file there that is mapped shared,
// writable and executable, with so many bytes free.
std::string why_no_memory_in(const std::filesystem::path& folder, std::uint64_t bytes);

// The first of `folders` that can hold a guest's memory; the last one where none can.
std::filesystem::path best_scratch(const std::vector<std::filesystem::path>& folders);

// Empty, or why no process may be traced here: what UML runs its processes by, unless it was built
// for several CPUs (those use seccomp). Starts a child and ends it.
std::string why_no_tracing();

}  // namespace vsb::guest
