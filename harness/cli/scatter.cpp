#include "harness/cli/scatter.h"

#include <algorithm>
#include <vector>

#include "stats/crossover.h"
#include "stats/log_pairs.h"
#include "stats/moments.h"

namespace vsb::cli {

std::optional<Scatter> scatter_of(const datasets::PairedSeries& series) {
    if (series.pairs.size() < 2) return std::nullopt;
    std::vector<stats::Pair> values;
    values.reserve(series.pairs.size());
    for (const datasets::PairedValue& value : series.pairs) {
        if (!(value.a > 0 && value.b > 0)) return std::nullopt;
        values.push_back(
            {value.a, value.b,
             value.order == datasets::PairOrder::ab ? stats::Order::ab : stats::Order::ba});
    }
    const stats::LogPairs pairs = stats::log_pairs(values);
    const auto n = static_cast<double>(pairs.size());
    Scatter scatter{0, pairs.two_of_each() ? n - 2 : n - 1, pairs.size()};
    if (pairs.constant()) return scatter;
    scatter.sd = pairs.two_of_each() ? stats::fit_crossover(pairs.d, pairs.order).sd
                                     : stats::moments(pairs.d).sd();
    return scatter;
}

}  // namespace vsb::cli
