#include "harness/cli/page.h"

#include <algorithm>
#include <map>
#include <utility>

#include "reports/gnuplot.h"
#include "reports/html.h"

namespace vsb::cli {
namespace {

using datasets::Id;
using datasets::SampleBlock;

// [n] of every trial added up.
void add_up(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& more) {
    sum.resize(std::max(sum.size(), more.size()));
    for (std::size_t n = 0; n < more.size(); ++n)
        sum[n] += more[n];
}

Id state_id(const datasets::ExperimentRecord& record, const std::string& label) {
    for (const auto& state : record.states)
        if (state.label == label) return state.id;
    return 0;
}

// A sweep over payloads alone has no parameter in its workloads' names.
bool is_sweep(const datasets::ExperimentRecord& record) {
    return record.name.starts_with("sweep of ");
}

}  // namespace

std::string recorded_page(const datasets::Store& store, const datasets::ExperimentRecord& record,
                          const reports::Comparison& comparison) {
    reports::HtmlExtras extras;
    extras.series = store.paired(record.id);
    extras.plotter = reports::gnuplot();
    if (reports::has_points(comparison) || is_sweep(record)) {
        extras.sweeps = reports::sweeps(comparison, extras.series, record.seed);
    }

    std::map<Id, reports::RttSamples> rtt;
    std::map<Id, reports::BatchSizes> batches;
    const Id a = state_id(record, "A");
    const Id b = state_id(record, "B");
    for (const auto& trial : store.trials(record.id, true)) {
        if (trial.status != datasets::TrialStatus::ok) continue;
        if (trial.state_id != a && trial.state_id != b) continue;
        const bool is_a = trial.state_id == a;
        for (const SampleBlock& block : trial.samples) {
            if (block.metric == "rtt") {
                auto& into = rtt[trial.workload_id];
                auto& all = is_a ? into.a_ns : into.b_ns;
                all.insert(all.end(), block.values.begin(), block.values.end());
            } else if (block.metric == "batch_sizes") {
                auto& into = batches[trial.workload_id];
                add_up(is_a ? into.a : into.b, block.values);
            }
        }
    }
    for (const auto& workload : record.workloads) {
        if (const auto found = rtt.find(workload.id); found != rtt.end()) {
            found->second.workload = workload.name;
            extras.rtt.push_back(std::move(found->second));
        }
        if (const auto found = batches.find(workload.id); found != batches.end()) {
            found->second.workload = workload.name;
            extras.batch_sizes.push_back(std::move(found->second));
        }
    }
    return reports::html(comparison, extras);
}

}  // namespace vsb::cli
