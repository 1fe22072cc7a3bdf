#pragma once
// The target that is this machine's own kernel: the three socket tools as children, over unix or
// tcp sockets, or over vsock where its loopback exists. A state is what `cmd=` switches to and
// which tools `bin=` names.

#include <memory>
#include <string>

#include "harness/experiment.h"
#include "harness/target.h"

namespace vsb::harness {

// own_bin: the folder of the tools built with this program. experiment.cpus must be filled in
// (host_placement). Throws std::invalid_argument (a bad state SPEC), transport::Unavailable (vsock
// without its loopback on this machine).
std::unique_ptr<Target> make_host_target(const Experiment& experiment, const std::string& own_bin);

// The host's roles are sender and receiver: two different allowed CPUs where there are two. Throws
// std::invalid_argument for another role.
CpuPlacement host_placement(CpuPlacement given, const std::vector<int>& allowed);

}  // namespace vsb::harness
