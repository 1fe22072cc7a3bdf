#include "reports/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "reports/figures.h"
#include "stats/crossover.h"
#include "stats/log_interval.h"

namespace vsb::reports {
namespace {

using datasets::ExperimentRecord;
using datasets::ExperimentStatus;
using datasets::PairedSeries;

std::string spec_of(const ExperimentRecord& record, const char* label) {
    for (const auto& state : record.states)
        if (state.label == label) return state.spec;
    return "";
}

bool has_states(const ExperimentRecord& record) {
    const auto has = [&](const char* label) {
        return std::ranges::any_of(record.states, [&](const auto& s) { return s.label == label; });
    };
    return has("A") && has("B");
}

bool ended(const ExperimentRecord& record) {
    return record.status == ExperimentStatus::finished || record.status == ExperimentStatus::failed;
}

std::string no_such_name(std::span<const ExperimentRecord> all, const std::string& name) {
    constexpr std::size_t kNamed = 10;
    std::vector<std::string> names;
    for (auto record = all.rbegin(); record != all.rend() && names.size() <= kNamed; ++record) {
        if (std::ranges::find(names, record->name) == names.end()) names.push_back(record->name);
    }
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i)
        list += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kNamed) list += ", ...";
    return fmt::format("history: there is no experiment named '{}' ({})", name,
                       list.empty() ? "the store holds none yet" : "newest first: " + list);
}

bool same_workload(const datasets::WorkloadRecord& left, const datasets::WorkloadRecord& right) {
    return left.name == right.name && left.kind == right.kind &&
           left.payload_bytes == right.payload_bytes && left.recv_bytes == right.recv_bytes &&
           left.writes == right.writes;
}

const datasets::WorkloadRecord* find_workload(const ExperimentRecord& record,
                                              const std::string& name) {
    const auto found = std::ranges::find(record.workloads, name, &datasets::WorkloadRecord::name);
    return found == record.workloads.end() ? nullptr : &*found;
}

// Empty when the run's workload is the newest's, or there is none to differ.
std::string difference(const datasets::WorkloadRecord& newest,
                       const datasets::WorkloadRecord& other) {
    if (newest.writes != other.writes) {
        return fmt::format("{}: {} writes, the newest has {}", other.name, other.writes,
                           newest.writes);
    }
    return fmt::format("{}: another kind, payload or recv() size than the newest's", other.name);
}

std::string why_not(const ExperimentRecord& newest, const ExperimentRecord& record) {
    if (record.status == ExperimentStatus::running) return "it is being run";
    if (record.status == ExperimentStatus::interrupted) {
        return "it was interrupted (vsockbench run --resume goes on with it)";
    }
    if (record.target != newest.target) {
        return fmt::format("target {}, the newest's is {}", record.target, newest.target);
    }
    if (!has_states(record)) return "it has no states A and B";
    if (spec_of(record, "A") != spec_of(newest, "A")) {
        return fmt::format("another baseline: A is '{}', the newest's is '{}'",
                           spec_of(record, "A"), spec_of(newest, "A"));
    }
    std::string why = "it has none of the newest's workloads";
    for (const auto& workload : record.workloads) {
        const auto* wanted = find_workload(newest, workload.name);
        if (wanted == nullptr) continue;
        if (same_workload(*wanted, workload)) return "";
        why = difference(*wanted, workload);
    }
    return why;
}

// Absent: too few pairs, or values without a ratio.
std::optional<HistoryPoint> point_of(const PairedSeries& series, double confidence) {
    std::vector<double> d;
    std::vector<stats::Order> order;
    std::array<std::size_t, 2> counts{};
    for (const auto& pair : series.pairs) {
        if (!(pair.a > 0 && pair.b > 0)) return std::nullopt;
        d.push_back(std::log(pair.b) - std::log(pair.a));
        order.push_back(pair.order == datasets::PairOrder::ab ? stats::Order::ab
                                                              : stats::Order::ba);
        ++counts[order.back() == stats::Order::ab ? 0 : 1];
    }
    if (counts[0] < 2 || counts[1] < 2) return std::nullopt;
    const stats::CrossoverFit fit = stats::fit_crossover(d, order);
    if (!std::isfinite(fit.theta) || !std::isfinite(fit.se)) return std::nullopt;
    const stats::LogInterval log = fit.interval(confidence);
    HistoryPoint point;
    point.log_ratio = fit.theta;
    point.se = fit.se;
    point.change = std::expm1(fit.theta);
    point.ci = {std::expm1(log.low), std::expm1(log.high)};
    point.pairs = d.size();
    return point;
}

bool usable(const HistoryPoint& point) {
    return point.se > 1e-100 && point.se < 1e100;
}

// The whole prefix of a time that the user's text gives: "2026-10-01" means from its first second.
bool before(const std::string& started, const std::string& since) {
    return !since.empty() && started.substr(0, since.size()) < since;
}

void warn_of_blind_workloads(History& history) {
    std::string unarmed;
    std::string blind;
    const auto add = [](std::string& list, const std::string& name) {
        list += (list.empty() ? "" : ", ") + name;
    };
    std::size_t armed = 0;
    for (const HistoryWorkload& workload : history.workloads) {
        if (!workload.gate.step_armed) {
            add(unarmed, workload.name);
            continue;
        }
        ++armed;
        if (!workload.gate.nights_needed && history.options.gate.margin > 0)
            add(blind, workload.name);
    }
    if (!unarmed.empty()) {
        const std::string who = armed == 0 ? "no workload has" : unarmed + " has not";
        history.warnings.push_back(
            {"gate-not-armed", fmt::format("{} the {} nights yet that a step can be found in", who,
                                           2 * history.options.gate.min_segment)});
    }
    if (!blind.empty()) {
        history.warnings.push_back(
            {"gate-blind",
             fmt::format(
                 "{}: nights scatter so much that a step of {} is not found within {} nights "
                 "(more pairs a night, or a wider margin)",
                 blind, plain_percent(history.options.gate.margin),
                 history.options.gate.look_back)});
    }
}

}  // namespace

HistoryBuilder::HistoryBuilder(std::span<const ExperimentRecord> all, const std::string& name,
                               const HistoryOptions& options) {
    stats::judge_nights({}, options.gate);  // checks
    if (!(options.confidence > 0 && options.confidence < 1)) {
        throw std::invalid_argument("history: the confidence must be between 0 and 1");
    }
    std::vector<const ExperimentRecord*> named;
    for (const ExperimentRecord& record : all)
        if (record.name == name) named.push_back(&record);
    if (named.empty()) throw std::invalid_argument(no_such_name(all, name));
    // By date, since an import may be recorded late.
    std::ranges::sort(named, [](const ExperimentRecord* left, const ExperimentRecord* right) {
        return std::tie(left->started, left->id) < std::tie(right->started, right->id);
    });
    for (const ExperimentRecord* record : named)
        if (newest_ == nullptr || ended(*record)) newest_ = record;
    for (const ExperimentRecord* record : named) {
        if (before(record->started, options.since)) {
            ++history_.before_since;
        } else if (std::string why = why_not(*newest_, *record); !why.empty()) {
            history_.left_out.push_back({record->id, record->started, std::move(why)});
        } else {
            chosen_.push_back(record);
        }
    }
    if (options.last && chosen_.size() > *options.last) {
        const std::size_t more = chosen_.size() - *options.last;
        chosen_.erase(chosen_.begin(), chosen_.begin() + static_cast<std::ptrdiff_t>(more));
        history_.before_since += more;
    }
    history_.name = name;
    history_.target = newest_->target;
    history_.a_spec = spec_of(*newest_, "A");
    history_.options = options;
    for (const auto& workload : newest_->workloads) {
        HistoryWorkload one;
        one.name = workload.name;
        history_.workloads.push_back(std::move(one));
    }
}

void HistoryBuilder::add(const ExperimentRecord& record, std::span<const PairedSeries> headlines) {
    const std::size_t night = history_.nights.size();
    std::string lacking;
    bool any = false;
    for (std::size_t w = 0; w < history_.workloads.size(); ++w) {
        HistoryWorkload& workload = history_.workloads[w];
        const auto* own = find_workload(record, workload.name);
        if (own == nullptr) continue;
        if (!same_workload(newest_->workloads[w], *own)) {
            lacking += (lacking.empty() ? "" : "; ") + difference(newest_->workloads[w], *own);
            continue;
        }
        const auto series = std::ranges::find(headlines, workload.name, &PairedSeries::workload);
        auto point = series == headlines.end() ? std::nullopt
                                               : point_of(*series, history_.options.confidence);
        if (!point) {
            lacking += (lacking.empty() ? "" : "; ") + workload.name +
                       ": fewer than two whole pairs of each order, or no ratio";
            continue;
        }
        if (workload.points.empty()) {
            workload.metric = series->metric;
            workload.unit = series->unit;
            workload.better =
                series->higher_is_better ? stats::Better::higher : stats::Better::lower;
        } else if (workload.metric != series->metric || workload.unit != series->unit) {
            lacking += (lacking.empty() ? "" : "; ") + workload.name + ": its headline is " +
                       series->metric + ", not " + workload.metric;
            continue;
        }
        point->night = night;
        workload.points.push_back(*point);
        any = true;
    }
    if (!lacking.empty()) {
        history_.left_out.push_back(
            {record.id, record.started, any ? "in part: " + lacking : lacking});
    }
    if (any) {
        history_.nights.push_back(
            {record.id, record.started, record.project_commit, spec_of(record, "B")});
    }
}

History HistoryBuilder::finish() {
    History& h = history_;
    std::erase_if(h.workloads, [](const HistoryWorkload& w) { return w.points.empty(); });
    std::vector<std::vector<stats::Night>> nights;
    std::vector<stats::NightSeries> series;
    for (HistoryWorkload& workload : h.workloads) {
        auto& own = nights.emplace_back();
        for (std::size_t i = 0; i < workload.points.size(); ++i) {
            if (!usable(workload.points[i])) continue;
            workload.usable.push_back(i);
            own.push_back({workload.points[i].log_ratio, workload.points[i].se});
        }
    }
    for (std::size_t w = 0; w < h.workloads.size(); ++w)
        series.push_back({nights[w], h.workloads[w].better});
    const auto verdicts = stats::judge_nights(series, h.options.gate);
    const auto first_night = [](const HistoryWorkload& workload, std::size_t index) {
        return workload.points[workload.usable[index]].night;
    };
    for (std::size_t w = 0; w < h.workloads.size(); ++w) {
        HistoryWorkload& workload = h.workloads[w];
        workload.gate = verdicts[w];
        workload.pelt = stats::pelt(nights[w]);
        workload.level = !workload.gate.changes.empty() ? workload.gate.changes.back().after : 0;
        if (workload.gate.changes.empty() && !nights[w].empty()) {
            double weight = 0;
            double sum = 0;
            for (const stats::Night& night : nights[w]) {
                weight += 1 / (night.se * night.se);
                sum += night.log_ratio / (night.se * night.se);
            }
            workload.level = sum / weight;
        }
    }
    for (const auto kind : {Alarm::Kind::step, Alarm::Kind::drop}) {
        for (std::size_t w = 0; w < h.workloads.size(); ++w) {
            const HistoryWorkload& workload = h.workloads[w];
            const auto& found = kind == Alarm::Kind::step ? workload.gate.step : workload.gate.drop;
            if (!found || !found->alarm) continue;
            Alarm alarm{kind, w, *found, first_night(workload, found->index), {}, {}};
            if (found->index > 0) alarm.before = first_night(workload, found->index - 1);
            // A drop is about tonight: not when tonight's run lacks this workload.
            if (kind == Alarm::Kind::drop && alarm.first + 1 != h.nights.size()) continue;
            const std::string& accepted = h.options.accepted;
            if (!accepted.empty() &&
                h.nights[alarm.first].started.substr(0, accepted.size()) <= accepted) {
                continue;
            }
            h.alarms.push_back(std::move(alarm));
        }
    }
    warn_of_blind_workloads(h);
    return std::move(history_);
}

void note_environment(Alarm& alarm, const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& after) {
    for (const char* key : {"kernel", "cpu_model", "compiler", "build_type", "governor", "turbo",
                            "smt", "virtualization", "tool_version"}) {
        const auto was = before.find(key);
        const auto is = after.find(key);
        if (was == before.end() || is == after.end() || was->second == is->second) continue;
        alarm.also.push_back(fmt::format("{}: {} -> {}", key, was->second, is->second));
    }
}

std::string date_of(const std::string& started) {
    return started.substr(0, 10);
}

std::string alarm_text(const History& history, const Alarm& alarm) {
    const HistoryWorkload& workload = history.workloads[alarm.workload];
    const bool step = alarm.kind == Alarm::Kind::step;
    const HistoryNight& first = history.nights[alarm.first];
    std::string text = fmt::format(
        "{} {}: {} {} {}, {}, p {} over all workloads", workload.name, workload.metric,
        step ? "step of" : "tonight", percent(alarm.worse.change), interval(alarm.worse.ci),
        step ? fmt::format("since the night of {} (experiment {})", date_of(first.started),
                           first.experiment)
             : fmt::format("against the nights before ({}, experiment {})", date_of(first.started),
                           first.experiment),
        p_value(alarm.worse.p_adjusted));
    if (step && alarm.before) {
        const std::string& was = history.nights[*alarm.before].commit;
        if (!was.empty() && !first.commit.empty() && was != first.commit) {
            text += fmt::format("; commits {}..{}", was, first.commit);
        }
    }
    for (const std::string& also : alarm.also)
        text += "; also " + also;
    return text;
}

std::string state_text(const History& history) {
    if (history.workloads.empty()) return "no night to judge";
    std::vector<bool> worse(history.workloads.size(), false);
    for (const Alarm& alarm : history.alarms)
        worse[alarm.workload] = true;
    const auto count = std::ranges::count(worse, true);
    if (count > 0) {
        return fmt::format("{} of {} workload{} {} worse", count, history.workloads.size(),
                           history.workloads.size() == 1 ? "" : "s", count == 1 ? "is" : "are");
    }
    std::size_t armed = 0;
    std::size_t needed = 0;
    bool blind = false;
    for (const HistoryWorkload& workload : history.workloads) {
        if (!workload.gate.step_armed) continue;
        ++armed;
        blind = blind || !workload.gate.nights_needed;
        needed = std::max(needed, workload.gate.nights_needed.value_or(0));
    }
    const std::string nights =
        fmt::format("{} workload{}, {} night{}", history.workloads.size(),
                    history.workloads.size() == 1 ? "" : "s", history.nights.size(),
                    history.nights.size() == 1 ? "" : "s");
    if (armed == 0) {
        return fmt::format("quiet, but too young to find a step: {} of the {} needed", nights,
                           2 * history.options.gate.min_segment);
    }
    const std::string margin = plain_percent(history.options.gate.margin);
    if (blind) {
        return fmt::format("quiet; {}; in some a step of {} is not found within {} nights", nights,
                           margin, history.options.gate.look_back);
    }
    return fmt::format("quiet; {}; a step of {} is found within {} nights", nights, margin, needed);
}

}  // namespace vsb::reports
