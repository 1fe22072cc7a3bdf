#pragma once
// The plots of the HTML report, as scripts and data.

#include <optional>

#include "datasets/paired_series.h"
#include "reports/html.h"
#include "reports/plot.h"
#include "reports/tables.h"

namespace vsb::reports {

// Changes with their intervals, one row each, beside 0 (and the margin). Rows whose figures are not
// finite or are beyond a million percent are left out. No data: nothing to draw.
Plot forest_plot(const Table& table, const std::optional<double>& margin);

// Left: each pair's change in the order the pairs ran, AB and BA apart. Right: a line from each
// pair's A to its B.
Plot pairs_plot(const datasets::PairedSeries& series);

// The share of requests answered within a time, A and B.
Plot ecdf_plot(const RttSamples& samples);

// The share of ownerships that carried n packets, A and B.
Plot batch_plot(const BatchSizes& sizes);

}  // namespace vsb::reports
