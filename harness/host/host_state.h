#pragma once
// A state of the host target: bin=DIR (the folder of the tools) and cmd=PROGRAM ARGUMENTS (run
// before the state; split at blanks, no shell).

#include <string>
#include <string_view>
#include <vector>

namespace vsb::harness {

struct HostState {
    std::string bin;
    std::vector<std::string> command;  // empty: none
};

// default_bin where the SPEC names none. Throws std::invalid_argument: another key, a folder
// without the tools.
HostState parse_host_state(std::string_view spec, const std::string& default_bin);

}  // namespace vsb::harness
