#include "reports/history_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace vsb::reports {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
    if (!std::isfinite(value)) return nullptr;
    return value == 0 ? 0.0 : value;
}

template <class T>
Json maybe(const std::optional<T>& value) {
    if (!value) return nullptr;
    return Json(*value);
}

Json text_or_null(const std::string& text) {
    if (text.empty()) return nullptr;
    return text;
}

Json change_of(const HistoryWorkload& workload, const stats::ChangePoint& change) {
    return {{"night", workload.points[workload.usable[change.index]].night},
            {"change", number(std::expm1(change.after - change.before))},
            {"before", number(std::expm1(change.before))},
            {"after", number(std::expm1(change.after))},
            {"se_log", number(change.se)},
            {"p", maybe(change.p)}};
}

Json alarm_of(const History& history, const Alarm& alarm) {
    Json out;
    const HistoryWorkload& workload = history.workloads[alarm.workload];
    out["kind"] = alarm.kind == Alarm::Kind::step ? "step" : "drop";
    out["workload"] = workload.name;
    out["metric"] = workload.metric;
    out["first_night"] = alarm.first;
    out["date"] = date_of(history.nights[alarm.first].started);
    out["night_before"] = maybe(alarm.before);
    out["change"] = number(alarm.worse.change);
    out["ci"] = {{"low", number(alarm.worse.ci.low)}, {"high", number(alarm.worse.ci.high)}};
    out["p"] = number(alarm.worse.p);
    out["p_adjusted"] = number(alarm.worse.p_adjusted);
    out["also_changed"] = alarm.also;
    return out;
}

Json workload_of(const HistoryWorkload& workload) {
    Json out;
    out["name"] = workload.name;
    out["metric"] = workload.metric;
    out["unit"] = workload.unit;
    out["better"] = workload.better == stats::Better::higher ? "higher" : "lower";
    out["level"] = workload.usable.empty() ? Json(nullptr) : number(std::expm1(workload.level));
    out["night_sd_log"] =
        workload.gate.night_sd > 0 ? number(workload.gate.night_sd) : Json(nullptr);
    out["step_armed"] = workload.gate.step_armed;
    out["drop_armed"] = workload.gate.drop_armed;
    out["nights_needed"] = maybe(workload.gate.nights_needed);
    out["points"] = Json::array();
    for (const HistoryPoint& point : workload.points) {
        out["points"].push_back(
            {{"night", point.night},
             {"change", number(point.change)},
             {"ci", {{"low", number(point.ci.low)}, {"high", number(point.ci.high)}}},
             {"se_log", number(point.se)},
             {"pairs", point.pairs}});
    }
    out["changes"] = Json::array();
    for (const auto& change : workload.gate.changes)
        out["changes"].push_back(change_of(workload, change));
    out["pelt"] = Json::array();
    for (const auto& change : workload.pelt)
        out["pelt"].push_back(change_of(workload, change));
    return out;
}

}  // namespace

std::string history_json(const History& history) {
    Json out;
    out["schema"] = "vsockbench.history/1";
    out["name"] = history.name;
    out["target"] = history.target;
    out["a"] = history.a_spec;
    out["confidence"] = number(history.options.confidence);
    const stats::NightGateOptions& gate = history.options.gate;
    out["gate"] = {
        {"quiet", history.alarms.empty()}, {"level", number(gate.level)},
        {"margin", number(gate.margin)},   {"look_back", gate.look_back},
        {"window", gate.window},           {"accepted", text_or_null(history.options.accepted)},
        {"alarms", Json::array()}};
    for (const Alarm& alarm : history.alarms)
        out["gate"]["alarms"].push_back(alarm_of(history, alarm));
    out["nights"] = Json::array();
    for (const HistoryNight& night : history.nights) {
        out["nights"].push_back({{"experiment", night.experiment},
                                 {"started", night.started},
                                 {"commit", text_or_null(night.commit)},
                                 {"b", night.b_spec}});
    }
    out["workloads"] = Json::array();
    for (const HistoryWorkload& workload : history.workloads)
        out["workloads"].push_back(workload_of(workload));
    out["left_out"] = Json::array();
    for (const LeftOut& left : history.left_out) {
        out["left_out"].push_back(
            {{"experiment", left.experiment}, {"started", left.started}, {"why", left.why}});
    }
    out["earlier_nights"] = history.before_since;
    out["warnings"] = Json::array();
    for (const stats::Warning& warning : history.warnings)
        out["warnings"].push_back({{"code", warning.code}, {"text", warning.text}});
    // As the comparison's: every character beyond ASCII escaped, bytes that are no UTF-8 replaced.
    return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace vsb::reports
