#include "reports/sweep_json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/figures.h"
#include "reports/json_number.h"

namespace vsb::reports {
namespace {

using Json = nlohmann::ordered_json;

// "64K" -> 65536; a value that is no size stays text.
Json size(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::size_t digits = static_cast<std::size_t>(end - text.data());
    if (error != std::errc{} || digits + 1 < text.size()) return text;
    if (digits == text.size()) return value;
    const std::size_t power = std::string_view("BKMG").find(text[digits]);
    if (power == std::string_view::npos || value >> (63 - 10 * power) != 0) return text;
    return value << (10 * power);
}

Json parameters_of(const Sweep& sweep, std::size_t point) {
    Json out = Json::object();
    for (std::size_t i = 0; i < sweep.axes.size(); ++i)
        out[sweep.axes[i].name] = size(sweep.points[point].at[i]);
    return out;
}

Json point_of(const Comparison& comparison, const Sweep& sweep, std::size_t p) {
    const SweepPoint& point = sweep.points[p];
    const stats::Comparison& r = point.row->result;
    Json out;
    out["workload"] = point.row->workload;
    out["kind"] = sweep.kind;
    out["metric"] = sweep.metric;
    out["unit"] = sweep.unit;
    out["parameters"] = parameters_of(sweep, p);
    out["better"] = r.better == stats::Better::higher ? "higher" : "lower";
    out["n_ab"] = r.n_ab;
    out["n_ba"] = r.n_ba;
    out["a"] = json_number(r.a);
    out["b"] = json_number(r.b);
    out["change"] = json_number(r.change);
    out["ci"] = {{"low", json_number(r.ci.low)}, {"high", json_number(r.ci.high)}};
    out["p"] = comparison.interim ? Json(nullptr) : json_number(r.p);
    out["count"] = nullptr;
    if (point.count != nullptr) {
        out["count"] = {{"metric", point.count->metric},
                        {"a", json_number(point.count->result.a)},
                        {"b", json_number(point.count->result.b)}};
    }
    out["best"] = sweep.best ? Json(sweep.best->best == p) : Json(nullptr);
    out["candidate"] = sweep.best ? Json(bool{sweep.best->candidate[p]}) : Json(nullptr);
    out["best_share"] = sweep.best ? json_number(sweep.best->share[p]) : Json(nullptr);
    return out;
}

Json maximum_of(const Sweep& sweep) {
    Json out;
    out["kind"] = sweep.kind;
    if (!sweep.best) {
        out["reason"] = sweep.no_best;
        return out;
    }
    const stats::BestPoint& best = *sweep.best;
    out["workload"] = sweep.points[best.best].row->workload;
    out["parameters"] = parameters_of(sweep, best.best);
    out["change"] = json_number(sweep.points[best.best].row->result.change);
    out["share"] = json_number(best.share[best.best]);
    out["candidates"] = Json::array();
    for (std::size_t p = 0; p < sweep.points.size(); ++p) {
        if (best.candidate[p]) out["candidates"].push_back(parameters_of(sweep, p));
    }
    out["rounds"] = best.rounds;
    out["draws"] = best.draws;
    out["seed"] = best.seed;
    return out;
}

}  // namespace

std::string sweep_json(const Comparison& comparison, const std::vector<Sweep>& sweeps) {
    Json out;
    out["schema"] = "vsockbench.sweep/1";
    out["experiment"] = comparison.experiment;
    out["id"] = comparison.record ? Json(comparison.record->id) : Json(nullptr);
    out["states"] = Json::array();
    if (comparison.record) {
        for (const datasets::StateRecord& state : comparison.record->states)
            out["states"].push_back({{"label", state.label}, {"spec", state.spec}});
    }
    out["method"] = stats::method_name(comparison.method);
    out["confidence"] = json_number(comparison.confidence);
    out["interim"] = comparison.interim;
    out["model"] = comparison.record && is_model(*comparison.record);
    out["axes"] = Json::array();
    out["points"] = Json::array();
    out["maximum"] = Json::array();
    for (const Sweep& sweep : sweeps) {
        if (out["axes"].empty()) {
            for (const SweepAxis& axis : sweep.axes) {
                Json values = Json::array();
                for (const std::string& value : axis.values)
                    values.push_back(size(value));
                out["axes"].push_back({{"name", axis.name}, {"values", values}});
            }
        }
        for (std::size_t p = 0; p < sweep.points.size(); ++p)
            out["points"].push_back(point_of(comparison, sweep, p));
        out["maximum"].push_back(maximum_of(sweep));
    }
    out["warnings"] = Json::array();
    for (const stats::Warning& w : comparison.warnings)
        out["warnings"].push_back({{"code", w.code}, {"text", w.text}});
    return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string sweep_csv(const Comparison& comparison, const std::vector<Sweep>& sweeps) {
    std::string out = "kind,metric,unit";
    if (!sweeps.empty()) {
        for (const SweepAxis& axis : sweeps.front().axes)
            out += "," + csv_cell(axis.name);
    }
    out += ",a,b,change,ci_low,ci_high,n_ab,n_ba,p,best,candidate,best_share\n";
    for (const Sweep& sweep : sweeps) {
        for (std::size_t p = 0; p < sweep.points.size(); ++p) {
            const SweepPoint& point = sweep.points[p];
            const stats::Comparison& r = point.row->result;
            out += csv_cell((sweep.model ? "model/" : "") + sweep.kind) + "," +
                   csv_cell(sweep.metric) + "," + csv_cell(sweep.unit);
            for (const std::string& value : point.at) {
                const Json parsed = size(value);
                out += "," + (parsed.is_string() ? csv_cell(value) : parsed.dump());
            }
            for (const double value : {r.a, r.b, r.change, r.ci.low, r.ci.high})
                out += "," + exact(value);
            out += "," + std::to_string(r.n_ab) + "," + std::to_string(r.n_ba) + "," +
                   (comparison.interim ? "" : exact(r.p));
            if (sweep.best) {
                out += std::string(",") + (sweep.best->best == p ? "1" : "0") + "," +
                       (sweep.best->candidate[p] ? "1" : "0") + "," + exact(sweep.best->share[p]);
            } else {
                out += ",,,";
            }
            out += "\n";
        }
    }
    return out;
}

}  // namespace vsb::reports
