#pragma once
// Measures an experiment into a store, with progress on stderr and Ctrl-C as a wish to stop.

#include <filesystem>
#include <string>

#include "datasets/store.h"
#include "harness/experiment.h"
#include "harness/runner.h"

namespace vsb::cli {

struct Measured {
    datasets::Store store;
    harness::RunOutcome outcome;
};

// cycles_by_preset: see settle(). Throws Failure, and what the store and the target throw; before
// anything was recorded, or datasets::StoreWriteFailed after.
Measured measure_new(harness::Experiment experiment, bool cycles_by_preset,
                     const std::filesystem::path& db, bool quiet);

// Goes on with an experiment of the store: its id, or `last`. Throws Failure (2) when there is no
// such store, or another process runs it.
Measured measure_on(const std::string& id_or_last, const std::filesystem::path& db, bool quiet);

}  // namespace vsb::cli
