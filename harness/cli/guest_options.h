#pragma once
// The guest target's options from the environment and the experiment: the cache, the programs
// beside this one, a tmpfs for the guests' memory.

#include "harness/experiment.h"
#include "harness/guest/boot.h"

namespace vsb::cli {

// Throws Failure (2): no cache folder, a word that is none of the choices.
guest::GuestOptions guest_options(const harness::GuestMachine& machine);

}  // namespace vsb::cli
