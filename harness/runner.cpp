#include "harness/runner.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/experiment_toml.h"
#include "harness/schedule.h"

namespace vsb::harness {
namespace {

using datasets::ExperimentRecord;
using datasets::ExperimentStatus;
using datasets::TrialRecord;
using datasets::TrialStatus;

datasets::WorkloadRecord record_of(const Workload& workload) {
    datasets::WorkloadRecord record;
    record.name = workload.name;
    record.kind = kind_name(workload.kind);
    record.payload_bytes = static_cast<std::int64_t>(workload.payload_bytes);
    record.recv_bytes = static_cast<std::int64_t>(workload.recv_bytes);
    record.writes = static_cast<std::int64_t>(workload.writes);
    return record;
}

// (workload's id, pair) -> what an earlier part of the run left there.
struct Place {
    std::int64_t last_attempt = 0;
    bool whole = false;
};
using Places = std::map<std::pair<datasets::Id, std::int64_t>, Place>;

Places places_of(const std::vector<TrialRecord>& trials) {
    Places places;
    std::map<std::pair<datasets::Id, std::int64_t>, std::set<datasets::Id>> ok_states;
    for (const TrialRecord& trial : trials) {
        const auto key = std::pair(trial.workload_id, trial.pair);
        Place& place = places[key];
        place.last_attempt = std::max(place.last_attempt, trial.attempt);
        if (trial.status == TrialStatus::ok) ok_states[key].insert(trial.state_id);
        place.whole = ok_states[key].size() >= 2;
    }
    return places;
}

// The same for both halves of a pair, and no other pair's, nor any of an experiment with the next
// seed: repeated data would make nights that look alike.
std::uint64_t trial_seed(std::uint64_t experiment_seed, std::int64_t pair) {
    constexpr std::uint64_t kFarApart = 0x9e3779b97f4a7c15;  // odd: no two seeds become one
    return experiment_seed * kFarApart + static_cast<std::uint64_t>(pair);
}

// A target that breaks its promise must not put a wrong number into the store.
void refuse_bad_figures(TrialResult& result) {
    if (!result.failure.empty()) {
        result.measurements.clear();
        result.samples.clear();
        return;
    }
    if (result.measurements.empty()) result.failure = "the target returned no figures";
    for (const datasets::Measurement& m : result.measurements) {
        if (!std::isfinite(m.value)) result.failure = m.metric + " is not a finite number";
    }
    if (!result.failure.empty()) refuse_bad_figures(result);
}

// stop() runs also when the store throws half-way.
class StopAtEnd {
  public:
    explicit StopAtEnd(Target& target) : target_(target) {}
    StopAtEnd(const StopAtEnd&) = delete;
    StopAtEnd& operator=(const StopAtEnd&) = delete;
    ~StopAtEnd() { target_.stop(); }

  private:
    Target& target_;
};

class Run {
  public:
    Run(const RunContext& context, const Experiment& experiment, const ExperimentRecord& record)
        : context_(context),
          experiment_(experiment),
          record_(record),
          workloads_(workloads_of(experiment)),
          goals_(experiment, record),
          by_round_(context.target.serves_rounds() && experiment.fresh != Fresh::trial) {}

    RunOutcome measure(const Places& places) {
        const StopAtEnd stop_at_end(context_.target);
        const auto schedule = make_schedule(workloads_.size(), experiment_.pairs, experiment_.seed,
                                            by_round_ ? Grouping::round : Grouping::pair);
        RunOutcome outcome;
        outcome.id = record_.id;
        outcome.pairs_planned = goals_.total();
        for (const auto& [key, place] : places)
            outcome.pairs_whole += place.whole ? 1U : 0U;
        context_.observer.begin({record_, workloads_, outcome.pairs_planned, outcome.pairs_whole});
        bool stopped = false;
        const std::size_t group_size = by_round_ ? workloads_.size() : 1;
        for (std::size_t first = 0; first < schedule.size() && !stopped && !hopeless_;
             first += group_size) {
            std::vector<Due> group;
            for (std::size_t i = first; i < first + group_size; ++i) {
                const PlannedPair& planned = schedule[i];
                if (planned.pair > kPilotPairs) plan_what_is_open(outcome);
                if (planned.pair > goals_.of(planned.workload)) continue;
                const auto at = places.find({workload_id(planned), planned.pair});
                const Place place = at == places.end() ? Place{} : at->second;
                if (!place.whole) group.push_back({planned, place.last_attempt + 1, {}});
            }
            stopped = !group.empty() && (stopping() || !measure_group(group, outcome));
        }
        if (!stopped && !hopeless_) plan_what_is_open(outcome);
        outcome.status = stopped                  ? ExperimentStatus::interrupted
                         : outcome.pairs_lost > 0 ? ExperimentStatus::failed
                                                  : ExperimentStatus::finished;
        context_.store.set_status(record_.id, outcome.status);
        return outcome;
    }

  private:
    datasets::Id workload_id(const PlannedPair& planned) const {
        return record_.workloads[planned.workload].id;
    }

    // The schedule goes in rounds: when a pair beyond the pilot comes up, every pilot is over.
    void plan_what_is_open(RunOutcome& outcome) {
        std::vector<datasets::PairedSeries> recorded;
        for (std::size_t w = 0; w < workloads_.size(); ++w) {
            if (!goals_.open(w)) continue;
            if (recorded.empty()) recorded = context_.store.paired(record_.id);
            plan(w, pilot_of(recorded, workloads_[w].name));
        }
        outcome.pairs_planned = goals_.total();
        if (!capped_.empty()) {
            keep_warning({"plan-capped",
                          "more pairs are needed for the half-width asked for than " +
                              std::to_string(experiment_.pairs) + ", the most allowed: " + capped_ +
                              "; their intervals come out wider"});
        }
        if (!unplanned_.empty()) {
            keep_warning({"plan-missing",
                          "pairs could not be planned, so that only the pilot was "
                          "measured: " +
                              unplanned_});
        }
    }

    static datasets::PairedSeries pilot_of(const std::vector<datasets::PairedSeries>& recorded,
                                           const std::string& workload) {
        // The first series of a workload is its headline.
        const auto at = std::ranges::find(recorded, workload, &datasets::PairedSeries::workload);
        datasets::PairedSeries pilot;
        if (at != recorded.end()) pilot = *at;
        std::erase_if(pilot.pairs, [](const auto& value) { return value.pair > kPilotPairs; });
        return pilot;
    }

    void plan(std::size_t w, const datasets::PairedSeries& pilot) {
        const std::string& name = workloads_[w].name;
        const PairPlan made = context_.planner(experiment_, pilot);
        if (made.pairs == 0) {
            goals_.leave(w);
            unplanned_ += (unplanned_.empty() ? "" : "; ") + name + ": " + made.why;
            return;
        }
        goals_.set(w, made.pairs);
        context_.store.set_environment(record_.id, std::string(kPlanWhy) + name, made.why);
        // Last: a plan that is there is whole.
        context_.store.set_environment(record_.id, std::string(kPlanPairs) + name,
                                       std::to_string(goals_.of(w)));
        if (made.pairs > experiment_.pairs) {
            capped_ += (capped_.empty() ? "" : ", ") + name + " " + std::to_string(made.pairs);
        }
        context_.observer.planned({workloads_[w], goals_.of(w), made.why});
    }

    bool stopping() const { return context_.stop && context_.stop(); }

    // A pair that is to be measured, and what is known of it so far.
    struct Due {
        PlannedPair planned;
        std::int64_t attempt = 1;
        std::string lost = {};
        std::string metric = {};
        std::string unit = {};
        std::optional<double> a = {};
        std::optional<double> b = {};
    };

    // The first halves of a group's pairs, then the second ones of those not lost. False when the
    // run was stopped within it.
    bool measure_group(std::vector<Due>& group, RunOutcome& outcome) {
        for (const int position : {1, 2}) {
            if (by_round_ && experiment_.fresh == Fresh::state) prepared_.clear();
            for (Due& due : group) {
                if (!due.lost.empty()) continue;
                const bool first = position == 1 && &due == group.data();
                if (!first && stopping()) return false;
                if (!measure_half(due, position)) return false;
                if (position == 2 || !due.lost.empty()) end_pair(due, outcome);
                if (hopeless_) return true;
            }
        }
        return true;
    }

    // False when the run was stopped meanwhile.
    bool measure_half(Due& due, int position) {
        const TrialRecord trial = measure_trial(due.planned, position, due.attempt);
        if (trial.status == TrialStatus::interrupted) return false;
        if (trial.status == TrialStatus::failed) {
            due.lost = trial.reason;
            return true;
        }
        const datasets::Measurement& headline = trial.measurements.front();
        due.metric = headline.metric;
        due.unit = headline.unit;
        (state_at(due.planned.order, position) == 0 ? due.a : due.b) = headline.value;
        return true;
    }

    void end_pair(const Due& due, RunOutcome& outcome) {
        const Workload& workload = workloads_[due.planned.workload];
        PairEnd end{due.planned, workload, 0,    outcome.pairs_planned, due.lost, due.metric,
                    due.unit,    due.a,    due.b};
        if (end.lost.empty()) {
            ++outcome.pairs_whole;
        } else {
            ++outcome.pairs_lost;
            if (outcome.first_failure.empty()) {
                outcome.first_failure =
                    workload.name + ", pair " + std::to_string(due.planned.pair) + ": " + end.lost;
            }
        }
        end.pairs_over = outcome.pairs_whole + outcome.pairs_lost;
        context_.observer.pair(end);
    }

    TrialRecord measure_trial(const PlannedPair& planned, int position, std::int64_t attempt) {
        const std::size_t state = state_at(planned.order, position);
        TrialRecord trial;
        trial.workload_id = workload_id(planned);
        trial.state_id = record_.states[state].id;
        trial.pair = planned.pair;
        trial.pair_order = planned.order;
        trial.position = position;
        trial.attempt = attempt;
        trial.started = context_.clock.utc_now();
        const std::int64_t start_ns = context_.clock.monotonic_ns();

        TrialResult result;
        try {
            prepare(state);
            TrialRequest request;
            request.workload = workloads_[planned.workload];
            request.state = state;
            request.pair = planned.pair;
            request.position = position;
            request.attempt = attempt;
            request.seed = trial_seed(experiment_.seed, planned.pair);
            request.timeout_ns = experiment_.timeout_ns;
            request.stop = context_.stop;
            result = context_.target.run(request);
        } catch (const std::exception& error) {
            result.failure = error.what();
            prepared_.clear();  // whatever is left of it cannot be trusted
        }
        trial.wall_time_ns = context_.clock.monotonic_ns() - start_ns;
        refuse_bad_figures(result);
        // A trial that was done before the stop was seen counts: it is whole.
        trial.status = result.failure.empty() ? TrialStatus::ok
                       : stopping()           ? TrialStatus::interrupted
                                              : TrialStatus::failed;
        trial.reason = result.failure;
        hopeless_ = trial.status == TrialStatus::failed && result.hopeless;
        trial.measurements = std::move(result.measurements);
        trial.samples = std::move(result.samples);
        trial.id = context_.store.add(record_.id, trial);
        for (const TargetWarning& warning : result.warnings)
            keep_warning(warning);
        context_.observer.trial(trial, workloads_[planned.workload]);
        return trial;
    }

    void prepare(std::size_t state) {
        const bool ready = prepared_.contains(state) && experiment_.fresh != Fresh::trial;
        if (ready) return;
        if (experiment_.fresh != Fresh::run) prepared_.clear();
        context_.target.prepare(state);
        prepared_.insert(state);
    }

    void keep_warning(const TargetWarning& warning) {
        if (!warned_.insert(warning.code).second) return;
        context_.store.set_environment(record_.id, std::string(kWarningPrefix) + warning.code,
                                       warning.text);
        context_.observer.warning(warning.code, warning.text);
    }

    const RunContext& context_;
    const Experiment& experiment_;
    const ExperimentRecord& record_;
    std::vector<Workload> workloads_;
    PairGoals goals_;
    std::string capped_;     // workloads whose plan goes beyond what is allowed
    std::string unplanned_;  // workloads without a plan, and why
    bool by_round_;
    bool hopeless_ = false;
    std::set<std::size_t> prepared_;
    std::set<std::string> warned_;
};

// Before anything is recorded.
void need_planner(const RunContext& context, const Experiment& experiment) {
    if (experiment.until_halfwidth > 0 && !context.planner) {
        throw std::invalid_argument("until_halfwidth: there is nobody to plan the pairs");
    }
}

}  // namespace

RunOutcome run_experiment(const RunContext& context, const Experiment& experiment,
                          const RunFacts& facts) {
    need_planner(context, experiment);
    datasets::NewExperiment fresh;
    fresh.name = experiment.name;
    fresh.target = recorded_target(experiment);
    fresh.seed = experiment.seed;
    fresh.pairs = experiment.pairs;
    fresh.config = experiment_toml(experiment);
    fresh.tool_version = facts.tool_version;
    fresh.project_commit = facts.project_commit;
    fresh.states = {{0, "A", experiment.a}, {0, "B", experiment.b}};
    for (const Workload& workload : workloads_of(experiment)) {
        fresh.workloads.push_back(record_of(workload));
    }
    fresh.environment = facts.environment;
    fresh.environment.merge(context.target.describe());
    if (const std::string rule = plan_rule(experiment); !rule.empty()) {
        fresh.environment.emplace(kPlanRule, rule);
    }
    const ExperimentRecord record = context.store.create(fresh);
    return Run(context, experiment, record).measure({});
}

RunOutcome resume_experiment(const RunContext& context, const Experiment& experiment,
                             const ExperimentRecord& record) {
    need_planner(context, experiment);
    const auto workloads = workloads_of(experiment);
    const auto same = [](const Workload& w, const datasets::WorkloadRecord& r) {
        return w.name == r.name && static_cast<std::int64_t>(w.writes) == r.writes &&
               static_cast<std::int64_t>(w.recv_bytes) == r.recv_bytes;
    };
    if (!std::ranges::equal(workloads, record.workloads, same) || record.states.size() != 2) {
        throw std::invalid_argument("experiment " + std::to_string(record.id) +
                                    ": its configuration does not give its workloads any more");
    }
    context.store.set_status(record.id, ExperimentStatus::running);
    context.store.invalidate_lone_halves(record.id, "its partner was not measured; repeated");
    const auto trials = context.store.trials(record.id);
    return Run(context, experiment, record).measure(places_of(trials));
}

}  // namespace vsb::harness
