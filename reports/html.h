#pragma once
// A comparison as one self-contained page.

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/paired_series.h"
#include "reports/comparison.h"
#include "reports/plot.h"
#include "reports/sweep.h"

namespace vsb::reports {

// Raw request-response times of one workload, all ok trials of a state together.
struct RttSamples {
    std::string workload;
    std::vector<std::uint64_t> a_ns;
    std::vector<std::uint64_t> b_ns;
};

// [n]: how often one ownership of the socket carried n packets, all ok trials of a state together.
struct BatchSizes {
    std::string workload;
    std::vector<std::uint64_t> a;
    std::vector<std::uint64_t> b;
};

// What the plots need beyond the comparison. Any part may be empty: its plots are left out.
struct HtmlExtras {
    std::vector<datasets::PairedSeries> series;  // the input of the comparison
    std::vector<RttSamples> rtt;
    std::vector<BatchSizes> batch_sizes;
    std::vector<Sweep> sweeps;
    Plotter plotter;  // gnuplot(); empty: tables and a notice
};

// One page without scripts and without anything loaded from elsewhere (a content security policy
// says so to the browser): warnings first, tables, plots as inline <svg>, environment. Follows the
// reader's light or dark setting.
std::string html(const Comparison& comparison, const HtmlExtras& extras);

}  // namespace vsb::reports
