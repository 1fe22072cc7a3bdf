#include "harness/cli/recorded.h"

namespace vsb::cli {

reports::Comparison compare_recorded(const datasets::Store& store,
                                     const datasets::ExperimentRecord& record,
                                     const reports::CompareOptions& options) {
    const auto series = store.paired(record.id);
    reports::Comparison comparison = reports::compare(record.name, series, options);
    reports::attach(comparison, record);
    return comparison;
}

}  // namespace vsb::cli
