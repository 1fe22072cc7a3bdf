#include <algorithm>

#include "datasets/csv.h"
#include "datasets/export_parts.h"

namespace vsb::datasets {

Exported to_pairs_csv(const Recorded& recorded) {
    Exported exported;
    std::vector<PairedSeries> kept;
    std::size_t empty = 0;
    std::size_t no_ratio = 0;
    for (const PairedSeries& series : recorded.series) {
        if (series.pairs.empty()) {
            ++empty;
        } else if (std::ranges::any_of(series.pairs, [](const PairedValue& pair) {
                       return !(pair.a > 0) || !(pair.b > 0);
                   })) {
            ++no_ratio;
        } else {
            kept.push_back(series);
        }
    }
    leave_out(exported, empty, "metrics without a whole pair");
    leave_out(exported, no_ratio, "metrics with values that make no ratio");
    exported.text = to_csv(kept);
    return exported;
}

}  // namespace vsb::datasets
