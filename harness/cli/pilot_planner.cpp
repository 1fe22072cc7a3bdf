#include "harness/cli/pilot_planner.h"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/cli/scatter.h"
#include "reports/figures.h"
#include "stats/planning.h"

namespace vsb::cli {

harness::PairPlan plan_from_pilot(const harness::Experiment& experiment,
                                  const datasets::PairedSeries& pilot) {
    constexpr std::size_t kFewest = 4;
    const auto scatter = scatter_of(pilot);
    if (!scatter || scatter->pairs < kFewest) {
        return {0, fmt::format("{} whole pairs of the pilot with a ratio, {} are needed to plan",
                               scatter ? scatter->pairs : 0, kFewest)};
    }
    const std::string sd =
        fmt::format("sd {:.3g}% over {} pilot pairs", 100 * scatter->sd, scatter->pairs);
    if (scatter->sd <= 0) {
        return {harness::kPilotPairs, sd + ": they agree, no more are needed"};
    }
    std::size_t pairs = stats::kMostPlannedPairs;
    std::string asked = fmt::format("more than {} pairs are needed", stats::kMostPlannedPairs);
    try {
        pairs = stats::pairs_after_pilot(scatter->sd, scatter->pairs, experiment.until_halfwidth,
                                         harness::kPlanConfidence, harness::kPlanAssurance);
        asked = fmt::format("{} pairs are needed", pairs);
    } catch (const std::invalid_argument&) {
        // Beyond what planning counts: the number above says so.
        asked += " (no number of runs will do)";
    }
    return {static_cast<std::int64_t>(pairs),
            fmt::format("{}: {} for {}", sd, asked,
                        reports::plain_percent(experiment.until_halfwidth))};
}

}  // namespace vsb::cli
