#pragma once
// A recorded experiment as a comparison.

#include "datasets/store.h"
#include "reports/comparison.h"

namespace vsb::cli {

reports::Comparison compare_recorded(const datasets::Store& store,
                                     const datasets::ExperimentRecord& record,
                                     const reports::CompareOptions& options);

}  // namespace vsb::cli
