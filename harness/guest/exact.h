#pragma once
// Trials under the exact clock: each has a guest of its own, whose initramfs holds its orders, and
// nothing of the host's time comes in. Two such trials of one kernel and seed are the same to the
// nanosecond.

#include <cstdint>
#include <string>
#include <vector>

#include "harness/guest/archive.h"
#include "harness/guest/boot.h"
#include "harness/guest/programs.h"
#include "harness/target.h"

namespace vsb::guest {

// What programs left of a plan, in its shape.
struct ExactRuns {
    std::vector<std::vector<GuestRun>> runs;
    std::vector<std::string> warnings;  // the guest's
};
// Boots the state and runs the plan; `seed` is of QEMU's randomness and of the timer's phase.
// `more`: further files of the guest. Throws GuestFailure (with the console), std::system_error.
ExactRuns run_exact(const ReadyState& ready, const GuestOptions& options, const ProgramPlan& plan,
                    std::uint64_t seed, std::uint64_t deadline_ns, std::vector<CpioNode> more = {});

// Likewise, the trial's programs with the request's seed.
harness::TrialResult run_exact_trial(const ReadyState& ready, const GuestOptions& options,
                                     const harness::TrialRequest& request);

}  // namespace vsb::guest
