#pragma once
// What is measured, behind four verbs: prepare a state, run a trial, describe itself, stop.
// The runner knows nothing else of an engine, a host or a guest.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "datasets/records.h"
#include "harness/experiment.h"

namespace vsb::harness {

// Which trial this is, and how long it may take.
struct TrialRequest {
    Workload workload;
    std::size_t state = 0;  // 0: A, 1: B
    std::int64_t pair = 1;
    int position = 1;
    std::int64_t attempt = 1;
    std::uint64_t seed = 1;           // of the payload's bytes; the same for both halves of a pair
    std::int64_t timeout_ns = 0;      // give up, with a failure, this long after the start
    std::function<bool()> stop = {};  // polled; true ends the trial with a failure
};

// Something the reader of the result must know. code is stable (lower-case, dashes).
struct TargetWarning {
    std::string code;
    std::string text;
};

struct TrialResult {
    // Why there are no figures; empty when there are. A target never returns figures beside a
    // failure, nor figures of a transfer whose bytes did not match.
    std::string failure;
    std::vector<datasets::Measurement> measurements;  // the headline metric first
    std::vector<datasets::SampleBlock> samples;
    std::vector<TargetWarning> warnings;
    // With a failure: later trials would fail alike (a state that never comes up). The run ends.
    bool hopeless = false;
};

class Target {
  public:
    Target() = default;
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;
    virtual ~Target() = default;

    // Makes a state ready; called as often as Experiment::fresh says. Throws std::exception when it
    // cannot: the trial that needed it fails with that reason.
    virtual void prepare(std::size_t state) = 0;

    // Runs one trial in the state prepared last under that number. Returns within about the
    // timeout. Failures are results, not exceptions.
    virtual TrialResult run(const TrialRequest& request) = 0;

    // True: a state once prepared serves every workload, and preparing is what costs. The runner
    // then measures each round's workloads in one go: all in the first state, all in the second,
    // each half prepared anew (Experiment::fresh: trial prepares for each trial all the same).
    virtual bool serves_rounds() const { return false; }

    // What it is, for the environment of the record: topology, cpu.receiver, ...
    virtual std::map<std::string, std::string> describe() const = 0;

    // Ends whatever prepare() started. Called once after the last trial, also after failures.
    virtual void stop() noexcept = 0;
};

}  // namespace vsb::harness
