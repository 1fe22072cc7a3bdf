#include "harness/host/host_state.h"

#include <unistd.h>

#include <sstream>
#include <stdexcept>

#include "harness/state_spec.h"

namespace vsb::harness {

HostState parse_host_state(std::string_view spec, const std::string& default_bin) {
    HostState state;
    state.bin = default_bin;
    for (const auto& [key, value] : parse_state_spec(spec).items) {
        if (key == "bin") {
            state.bin = value;
        } else if (key == "cmd") {
            std::istringstream words(value);
            for (std::string word; words >> word;)
                state.command.push_back(word);
            if (state.command.empty()) throw std::invalid_argument("cmd: names no program");
        } else {
            throw std::invalid_argument("'" + key +
                                        "' is no key of a host state (there are bin, cmd)");
        }
    }
    for (const char* tool : {"vsb-sender", "vsb-receiver", "vsb-pingpong"}) {
        if (access((state.bin + "/" + tool).c_str(), X_OK) != 0) {
            throw std::invalid_argument("bin: " + state.bin + " holds no program " + tool);
        }
    }
    return state;
}

}  // namespace vsb::harness
