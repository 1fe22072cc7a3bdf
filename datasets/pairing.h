#pragma once
// Runs of one state each, paired into an experiment for Store::import.
//
// Of each workload the k-th run of state A and the k-th of state B are pair k. Which of the two was
// made first is told by `order` or, where every run has one, by the runs' times; never guessed.

#include <span>
#include <string>
#include <vector>

#include "datasets/foreign_file.h"
#include "datasets/paired_series.h"
#include "datasets/records.h"

namespace vsb::datasets {

struct StateFile {
    std::string name;  // for messages
    ForeignFile file;
};

struct PairingOptions {
    // States in the order their runs were made, repeated as often as needed: "ABBA" is pair 1 AB,
    // pair 2 BA, pair 3 AB, ... Empty: by the times in the files.
    std::string order;
    // Given to every run as its workload's name; every file must then hold one workload. Empty: as
    // the files say.
    std::string workload;
};

struct PairedRuns {
    // states (labels A and B, without spec), workloads, pairs and environment are filled in; what
    // the figures cannot say of themselves is in the environment as warning.<code>.
    NewExperiment experiment;
    std::vector<TrialRecord> trials;  // workload_id and state_id as Store::import has them
};

// Throws std::invalid_argument: a workload that one state lacks, more runs of one state, other
// headline metrics, an order that is none, longer than there are pairs, or contradicts the times,
// no order at all, two runs at one time.
PairedRuns pair_files(std::span<const StateFile> a, std::span<const StateFile> b,
                      const PairingOptions& options);

// Pairs that are pairs already, as a CSV has them. Throws std::invalid_argument when two metrics of
// a workload differ in a pair's order.
PairedRuns pair_series(const std::vector<PairedSeries>& series);

// Throws std::invalid_argument unless `order` is letters A and B of which each two, from the start,
// are one of each.
void check_order(const std::string& order);

}  // namespace vsb::datasets
