#pragma once
// A recorded experiment as one HTML page with its plots.

#include <string>

#include "datasets/store.h"
#include "reports/comparison.h"

namespace vsb::cli {

// `comparison` is that of the record (compare_recorded). Plots are drawn by gnuplot where it is
// installed; without it the page has tables and a notice.
std::string recorded_page(const datasets::Store& store, const datasets::ExperimentRecord& record,
                          const reports::Comparison& comparison);

}  // namespace vsb::cli
