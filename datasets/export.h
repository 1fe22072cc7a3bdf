#pragma once
// A recorded experiment in other programs' formats. Pure: a record in, text out. Each function
// leaves out what its format cannot hold, and says so. datasets/FORMATS.md has the fields.

#include <string>
#include <vector>

#include "datasets/paired_series.h"
#include "datasets/records.h"

namespace vsb::datasets {

struct Recorded {
    ExperimentRecord experiment;
    std::vector<TrialRecord> trials;   // all of them; with samples for to_json_lines
    std::vector<PairedSeries> series;  // of states A and B: what a comparison is made from
};

struct Exported {
    std::string text;
    std::vector<std::string> left_out;  // "2 series with values that make no ratio"
};

// The CSV that `compare` reads; comparing it gives the same figures.
Exported to_pairs_csv(const Recorded& recorded);

// One line a trial, whatever became of it, with every measurement and sample.
Exported to_json_lines(const Recorded& recorded);

// Each ok trial an entry named STATE/WORKLOAD, or WORKLOAD when a state is named. Throws
// std::invalid_argument for a state there is not.
Exported to_google_benchmark(const Recorded& recorded, const std::string& state);

// Bencher Metric Format: geometric means of A and B (or of one of them) with least and greatest.
Exported to_bmf(const Recorded& recorded, const std::string& state);

// For github-action-benchmark's customBiggerIsBetter (higher) or customSmallerIsBetter (lower):
// one file has one direction. The headline metrics, as means.
enum class Better { higher, lower };
Exported to_github_action_benchmark(const Recorded& recorded, const std::string& state,
                                    Better better);

// KernelCI's submission schema 4.5: one checkout, a build for each state, a test for each workload,
// metric and state (DONE, with number and unit), and one for each failed trial (ERROR). origin
// names the CI system: letters a-z, digits and _. Throws std::invalid_argument for another one.
Exported to_kcidb(const Recorded& recorded, const std::string& origin);

}  // namespace vsb::datasets
