#include "harness/cli/recorded.h"

#include <optional>
#include <stdexcept>

#include "harness/experiment_toml.h"

namespace vsb::cli {
namespace {

// The method that the experiment itself asks for. An import's configuration, or one of another
// version, asks for none that we know.
std::optional<stats::Method> recorded_beside(const datasets::ExperimentRecord& record) {
    try {
        const auto experiment = harness::parse_experiment_toml(record.config, "config");
        if (experiment.beside.empty()) return {};
        return stats::parse_method(experiment.beside);
    } catch (const std::invalid_argument&) {
        return {};
    }
}

}  // namespace

reports::Comparison compare_recorded(const datasets::Store& store,
                                     const datasets::ExperimentRecord& record,
                                     const reports::CompareOptions& options) {
    const auto series = store.paired(record.id);
    reports::CompareOptions wanted = options;
    if (!wanted.beside) wanted.beside = recorded_beside(record);
    reports::Comparison comparison = reports::compare(record.name, series, wanted);
    reports::attach(comparison, record);
    return comparison;
}

}  // namespace vsb::cli
