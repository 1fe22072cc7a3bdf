#pragma once
// A trial whose both ends are programs: in one guest (loopback), in a guest's guest and its host
// (nested), in a guest and on this machine (vhost). What is started and what its results mean are
// pure; where the programs run is a ProgramRunner's business.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/guest/guest_run.h"
#include "harness/guest/trial.h"
#include "harness/target.h"

namespace vsb::guest {

enum class Side : std::uint8_t { receiver, sender };

struct ProgramCall {
    Side side = Side::receiver;
    std::vector<std::string> argv;
    std::string file = {};  // to be brought back from where it ran
};

// Started in order; all of a step end before the next begins.
using ProgramStep = std::vector<ProgramCall>;
using ProgramPlan = std::vector<ProgramStep>;

struct ProgramEnds {
    GuestCpus cpus;            // the receiver's guest's
    int sender_cpu = -1;       // where the sender runs; -1: anywhere
    std::uint32_t port = 0;    // that no earlier trial used; two follow it
    std::uint32_t cid = 1;     // the receiver's, as the sender sees it
    bool exact_clock = false;  // a nanosecond is an instruction
};

// Throughput: a short transfer whose every byte is compared, then the measured one. Round trips:
// one step.
ProgramPlan plan_programs(const harness::TrialRequest& request, const ProgramEnds& ends);

// What the programs of a plan left, in its shape, as figures or as a failure.
harness::TrialResult program_figures(const harness::TrialRequest& request, const ProgramEnds& ends,
                                     const std::vector<std::vector<GuestRun>>& runs);

// Runs a plan, each side where its runner runs it; a step that failed is the last one. Throws
// GuestFailure when a guest is lost.
harness::TrialResult run_programs(ProgramRunner& receivers, ProgramRunner& senders,
                                  const harness::TrialRequest& request, const ProgramEnds& ends);

// A plan as the orders of a guest that takes none later (agent.h): the settings, the programs, the
// end. Programs are numbered from 1.
std::string orders_text(const std::vector<std::pair<std::string, std::string>>& sysctls,
                        const ProgramPlan& plan);

}  // namespace vsb::guest
