#pragma once
// The target `guest`: for each state of a pair a fresh guest boots that state's kernel and serves
// every workload of the pair's round; the tools run inside, and what they measured comes back on
// the agent's channel.

#include <memory>

#include "harness/experiment.h"
#include "harness/guest/boot.h"
#include "harness/target.h"

namespace vsb::guest {

// Finds the kernels (fetching what is to be fetched), checks them for vsock and virtio, and writes
// the states' initramfs. Throws std::invalid_argument or std::runtime_error saying how to mend it.
std::unique_ptr<harness::Target> make_guest_target(const harness::Experiment& experiment,
                                                   const GuestOptions& options);

}  // namespace vsb::guest
