#include "datasets/pairs.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace vsb::datasets {
namespace {

// One pair of one workload: what became of each state's half over all attempts.
struct Half {
    const TrialRecord* ok = nullptr;
    bool failed = false;
    bool spoilt = false;  // invalid or interrupted
};

struct Slot {
    std::int64_t pair = 0;
    Half a;
    Half b;
    // Attempts may leave two ok halves that were not measured together: no pair.
    bool whole() const {
        return a.ok != nullptr && b.ok != nullptr && a.ok->attempt == b.ok->attempt;
    }
    Id recorded() const { return std::min(a.ok->id, b.ok->id); }
};

void note(Half& half, const TrialRecord& trial) {
    if (trial.status == TrialStatus::ok) {
        half.ok = &trial;
    } else if (trial.status == TrialStatus::failed) {
        half.failed = true;
    } else {
        half.spoilt = true;
    }
}

std::vector<Slot> slots_of(const std::vector<const TrialRecord*>& trials, Id a) {
    std::map<std::int64_t, Slot> by_pair;
    for (const TrialRecord* trial : trials) {
        Slot& slot = by_pair[trial->pair];
        slot.pair = trial->pair;
        note(trial->state_id == a ? slot.a : slot.b, *trial);
    }
    std::vector<Slot> slots;
    slots.reserve(by_pair.size());
    for (const auto& [number, slot] : by_pair)
        slots.push_back(slot);
    return slots;
}

// A half that was made invalid because its partner failed is not the one that lost the pair.
void count_lost(const Slot& slot, PairedSeries& series) {
    const bool any_failed = slot.a.failed || slot.b.failed;
    if (any_failed ? slot.a.failed : slot.a.spoilt) ++series.lost_a;
    if (any_failed ? slot.b.failed : slot.b.spoilt) ++series.lost_b;
}

const Measurement* find_measurement(const TrialRecord& trial, const PairedSeries& series) {
    for (const Measurement& each : trial.measurements) {
        if (each.metric == series.metric && each.unit == series.unit) return &each;
    }
    return nullptr;
}

std::vector<PairedSeries> empty_series(const std::string& workload,
                                       const std::vector<const TrialRecord*>& trials) {
    std::vector<PairedSeries> all;
    for (const TrialRecord* trial : trials) {
        if (trial->status != TrialStatus::ok) continue;
        for (const Measurement& each : trial->measurements) {
            const auto same = [&](const PairedSeries& known) {
                return known.metric == each.metric && known.unit == each.unit;
            };
            if (std::ranges::any_of(all, same)) continue;
            PairedSeries series;
            series.workload = workload;
            series.metric = each.metric;
            series.unit = each.unit;
            series.higher_is_better = higher_is_better(each.metric, each.unit);
            all.push_back(std::move(series));
        }
    }
    return all;
}

void fill(PairedSeries& series, const std::vector<Slot>& whole, const std::vector<Slot>& lost) {
    for (const Slot& slot : lost)
        count_lost(slot, series);
    for (const Slot& slot : whole) {
        const Measurement* a = find_measurement(*slot.a.ok, series);
        const Measurement* b = find_measurement(*slot.b.ok, series);
        if (a != nullptr && b != nullptr) {
            // Of these two labels, whatever pair_order calls them in a series of more states.
            const auto order =
                slot.a.ok->position < slot.b.ok->position ? PairOrder::ab : PairOrder::ba;
            series.pairs.push_back({slot.pair, order, a->value, b->value});
        } else {
            series.lost_a += a == nullptr ? 1U : 0U;
            series.lost_b += b == nullptr ? 1U : 0U;
        }
    }
}

}  // namespace

std::vector<PairedSeries> pair_trials(const ExperimentRecord& experiment,
                                      const std::vector<TrialRecord>& trials, Id a, Id b) {
    std::unordered_map<Id, std::vector<const TrialRecord*>> by_workload;
    for (const TrialRecord& trial : trials) {
        if (trial.state_id == a || trial.state_id == b) {
            by_workload[trial.workload_id].push_back(&trial);
        }
    }
    std::vector<PairedSeries> all;
    for (const WorkloadRecord& workload : experiment.workloads) {
        const auto& own = by_workload[workload.id];
        auto slots = slots_of(own, a);
        const auto middle = std::stable_partition(slots.begin(), slots.end(),
                                                  [](const Slot& slot) { return slot.whole(); });
        const std::vector<Slot> lost(middle, slots.end());
        slots.erase(middle, slots.end());
        std::ranges::sort(slots, {}, &Slot::recorded);
        for (PairedSeries& series : empty_series(workload.name, own)) {
            fill(series, slots, lost);
            all.push_back(std::move(series));
        }
    }
    return all;
}

}  // namespace vsb::datasets
