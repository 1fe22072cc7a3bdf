#include "datasets/pairing.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "datasets/import_error.h"

namespace vsb::datasets {
namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw std::invalid_argument(why);
}

struct Placed {
    const ForeignRun* run = nullptr;
    const std::string* file = nullptr;
};

// The runs of one state.
struct Side {
    char label = 'A';
    std::vector<std::string> names;  // of workloads, as they first appear
    std::map<std::string, std::vector<Placed>> runs;
    bool repeats = false;  // a file holds several runs of one workload
};

Side side_of(char label, std::span<const StateFile> files, const std::string& workload) {
    Side side;
    side.label = label;
    for (const StateFile& each : files) {
        std::set<std::string> own;
        for (const ForeignRun& run : each.file.runs) {
            const bool is_new = own.insert(run.workload.name).second;
            if (!workload.empty() && own.size() > 1) {
                refuse(each.name + ": it holds " + in_quotes(*own.begin()) + " and " +
                       in_quotes(*own.rbegin()) +
                       ": one name cannot stand for both (leave out "
                       "--workload)");
            }
            side.repeats = side.repeats || !is_new;
            const std::string& name = workload.empty() ? run.workload.name : workload;
            auto& runs = side.runs[name];
            if (runs.empty()) side.names.push_back(name);
            runs.push_back({&run, &each.name});
        }
    }
    return side;
}

std::string list(const std::vector<std::string>& names) {
    std::string text;
    constexpr std::size_t kShown = 5;
    for (std::size_t i = 0; i < names.size() && i < kShown; ++i)
        text += (i == 0 ? "" : ", ") + in_quotes(names[i]);
    return text + (names.size() > kShown ? ", ..." : "");
}

void match(const Side& one, const Side& other) {
    for (const auto& [name, runs] : one.runs) {
        const auto found = other.runs.find(name);
        const std::string what = *runs.front().file + ": workload " + in_quotes(name) + " has ";
        if (found == other.runs.end()) {
            refuse(what + "no run in state " + other.label + ", which has " + list(other.names) +
                   " (if they are the same, name them with --workload)");
        }
        if (found->second.size() != runs.size()) {
            refuse(what + std::to_string(runs.size()) + " runs in state " + one.label + " and " +
                   std::to_string(found->second.size()) + " in state " + other.label +
                   " (each run needs its partner)");
        }
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const Measurement& a = runs[i].run->measurements.at(0);
            const Measurement& b = found->second[i].run->measurements.at(0);
            if (a.metric == b.metric && a.unit == b.unit) continue;
            refuse(*runs[i].file + ": workload " + in_quotes(name) + " measures " +
                   in_quotes(a.metric) + " in " + in_quotes(a.unit) + ", and " +
                   *found->second[i].file + " " + in_quotes(b.metric) + " in " + in_quotes(b.unit));
        }
    }
}

class Orders {
  public:
    Orders(const std::string& letters, bool& interleaved)
        : letters_(letters), interleaved_(interleaved) {}

    PairOrder of(std::size_t pair, const Placed& a, const Placed& b) {
        const std::string& time_a = a.run->started;
        const std::string& time_b = b.run->started;
        const bool timed = !time_a.empty() && !time_b.empty() && time_a != time_b;
        const auto by_time = time_a < time_b ? PairOrder::ab : PairOrder::ba;
        if (timed) {
            // One pair is over before the next begins, or A and B did not take turns.
            const auto& [first, last] = std::minmax(time_a, time_b);
            if (pair > 0 && first < last_) interleaved_ = false;
            last_ = std::max(last_, last);
        }
        if (letters_.empty()) {
            if (!timed) {
                refuse(*a.file + " and " + *b.file +
                       ": which of the two was made first is not in "
                       "them (say in what order the states were run: --order ABBA)");
            }
            return by_time;
        }
        const auto said =
            letters_[2 * pair % letters_.size()] == 'A' ? PairOrder::ab : PairOrder::ba;
        if (timed && said != by_time) {
            refuse("--order: pair " + std::to_string(pair + 1) + " is " +
                   (said == PairOrder::ab ? "AB" : "BA") + ", but by their times " + *a.file +
                   (by_time == PairOrder::ab ? " was made before " : " was made after ") + *b.file +
                   " (leave out --order)");
        }
        return said;
    }

  private:
    const std::string& letters_;
    bool& interleaved_;
    std::string last_;
};

TrialRecord trial_of(const ForeignRun& run, std::size_t workload, bool is_a, std::size_t pair,
                     PairOrder order) {
    TrialRecord trial;
    trial.workload_id = static_cast<Id>(workload) + 1;
    trial.state_id = is_a ? 1 : 2;
    trial.pair = static_cast<std::int64_t>(pair) + 1;
    trial.pair_order = order;
    trial.position = (order == PairOrder::ab) == is_a ? 1 : 2;
    trial.started = run.started;
    trial.wall_time_ns = run.wall_time_ns;
    trial.measurements = run.measurements;
    return trial;
}

// Only what holds of every file describes the experiment.
std::map<std::string, std::string> common_environment(std::span<const StateFile> a,
                                                      std::span<const StateFile> b) {
    auto common = a.front().file.environment;
    for (const auto files : {a, b}) {
        for (const StateFile& each : files) {
            std::erase_if(common, [&each](const auto& entry) {
                const auto found = each.file.environment.find(entry.first);
                return found == each.file.environment.end() || found->second != entry.second;
            });
        }
    }
    return common;
}

NewExperiment empty_experiment() {
    NewExperiment experiment;
    experiment.target = "import";
    experiment.states = {{0, "A", ""}, {0, "B", ""}};
    return experiment;
}

}  // namespace

void check_order(const std::string& order) {
    const std::string form =
        in_quotes(order) +
        " is no order of runs (letters A and B, in twos of one A and one B: AB, "
        "ABBA)";
    if (order.empty() || order.size() % 2 != 0) refuse(form);
    for (std::size_t i = 0; i < order.size(); i += 2) {
        const std::string_view two = std::string_view(order).substr(i, 2);
        if (two != "AB" && two != "BA") refuse(form);
    }
}

PairedRuns pair_files(std::span<const StateFile> a, std::span<const StateFile> b,
                      const PairingOptions& options) {
    if (a.empty() || b.empty()) refuse("each state needs a file");
    if (!options.order.empty()) check_order(options.order);
    const Side side_a = side_of('A', a, options.workload);
    const Side side_b = side_of('B', b, options.workload);
    match(side_a, side_b);
    match(side_b, side_a);

    PairedRuns out;
    out.experiment = empty_experiment();
    out.experiment.environment = common_environment(a, b);
    bool interleaved = !side_a.repeats && !side_b.repeats;
    std::size_t most = 0;
    for (const std::string& name : side_a.names) {
        const auto& runs_a = side_a.runs.at(name);
        const auto& runs_b = side_b.runs.at(name);
        most = std::max(most, runs_a.size());
        WorkloadRecord workload = runs_a.front().run->workload;
        workload.name = name;
        out.experiment.workloads.push_back(workload);
        Orders orders(options.order, interleaved);
        for (std::size_t pair = 0; pair < runs_a.size(); ++pair) {
            const PairOrder order = orders.of(pair, runs_a[pair], runs_b[pair]);
            const std::size_t index = out.experiment.workloads.size() - 1;
            const bool a_first = order == PairOrder::ab;
            for (const bool is_a : {a_first, !a_first}) {
                const ForeignRun& run = *(is_a ? runs_a : runs_b)[pair].run;
                out.trials.push_back(trial_of(run, index, is_a, pair, order));
            }
        }
    }
    if (options.order.size() > 2 * most) {
        refuse("--order: " + in_quotes(options.order) + " is " +
               std::to_string(options.order.size() / 2) + " pairs, and there are " +
               std::to_string(most));
    }
    out.experiment.pairs = static_cast<std::int64_t>(most);
    if (!interleaved) {
        out.experiment.environment["warning.not-interleaved"] =
            "several runs of one state were made in one go: what drifted between them and the "
            "other state's counts as change";
    }
    return out;
}

PairedRuns pair_series(const std::vector<PairedSeries>& series) {
    struct Slot {
        PairOrder order = PairOrder::ab;
        std::vector<Measurement> a;
        std::vector<Measurement> b;
    };
    struct Workload {
        std::map<std::int64_t, std::size_t> by_pair;
        std::vector<Slot> slots;
    };
    std::vector<std::string> names;
    std::map<std::string, Workload> workloads;
    for (const PairedSeries& each : series) {
        Workload& workload = workloads[each.workload];
        if (workload.slots.empty() && workload.by_pair.empty()) names.push_back(each.workload);
        const std::string metric = each.metric.empty() ? "value" : each.metric;
        for (const PairedValue& pair : each.pairs) {
            const auto [at, is_new] =
                workload.by_pair.try_emplace(pair.pair, workload.slots.size());
            if (is_new) workload.slots.push_back({pair.order, {}, {}});
            Slot& slot = workload.slots[at->second];
            if (slot.order != pair.order) {
                refuse("pair " + std::to_string(pair.pair) + " of " + in_quotes(each.workload) +
                       " is AB in one metric and BA in another");
            }
            slot.a.push_back({metric, each.unit, pair.a});
            slot.b.push_back({metric, each.unit, pair.b});
        }
    }
    PairedRuns out;
    out.experiment = empty_experiment();
    std::size_t most = 0;
    for (const std::string& name : names) {
        const Workload& workload = workloads.at(name);
        WorkloadRecord record;
        record.name = name;
        const std::size_t slash = name.find('/');
        record.kind = slash == std::string::npos || slash == 0 ? name : name.substr(0, slash);
        out.experiment.workloads.push_back(record);
        most = std::max(most, workload.slots.size());
        for (std::size_t pair = 0; pair < workload.slots.size(); ++pair) {
            const Slot& slot = workload.slots[pair];
            const bool a_first = slot.order == PairOrder::ab;
            for (const bool is_a : {a_first, !a_first}) {
                ForeignRun run;
                run.measurements = is_a ? slot.a : slot.b;
                const std::size_t index = out.experiment.workloads.size() - 1;
                out.trials.push_back(trial_of(run, index, is_a, pair, slot.order));
            }
        }
    }
    out.experiment.pairs = static_cast<std::int64_t>(most);
    return out;
}

}  // namespace vsb::datasets
