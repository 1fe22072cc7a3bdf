#include "reports/json.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "reports/facts.h"
#include "reports/json_number.h"

namespace vsb::reports {
namespace {

// Keys in the order the interface lists them.
using Json = nlohmann::ordered_json;

Json warnings_of(const std::vector<stats::Warning>& warnings) {
    Json out = Json::array();
    for (const stats::Warning& w : warnings)
        out.push_back({{"code", w.code}, {"text", w.text}});
    return out;
}

Json row_of(const Row& row, bool interim) {
    const stats::Comparison& r = row.result;
    const auto p = [interim](const std::optional<double>& value) {
        return interim ? Json(nullptr) : json_number(value);
    };
    const auto& hl = r.hodges_lehmann;
    Json out;
    out["workload"] = row.workload;
    out["metric"] = row.metric;
    out["unit"] = row.unit;
    out["headline"] = row.headline;
    out["method"] = stats::method_name(r.method);
    out["better"] = r.better == stats::Better::higher ? "higher" : "lower";
    out["n_ab"] = r.n_ab;
    out["n_ba"] = r.n_ba;
    out["a"] = json_number(r.a);
    out["b"] = json_number(r.b);
    out["ratio"] = json_number(r.ratio);
    out["change"] = json_number(r.change);
    out["confidence"] = json_number(r.confidence);
    out["ci"] = {{"low", json_number(r.ci.low)}, {"high", json_number(r.ci.high)}};
    out["simultaneous"] = {
        {"low", row.simultaneous ? json_number(row.simultaneous->low) : Json(nullptr)},
        {"high", row.simultaneous ? json_number(row.simultaneous->high) : Json(nullptr)}};
    out["se_log"] = json_number(r.se_log);
    out["df"] = json_number(r.df);
    out["p"] = p(r.p);
    if (row.beside) {
        out["beside"] = {{"method", stats::method_name(row.beside->method)},
                         {"change", json_number(row.beside->change)},
                         {"ci",
                          {{"low", json_number(row.beside->ci.low)},
                           {"high", json_number(row.beside->ci.high)}}},
                         {"p", p(row.beside->p)}};
    }
    out["p_adjusted"] = p(row.p_adjusted);
    out["verdict"] = interim ? Json(nullptr) : Json(stats::verdict_name(r.verdict));
    out["faster"] = {
        {"k", r.faster.k}, {"n", r.faster.n}, {"ties", r.faster.ties}, {"p", p(r.faster.p)}};
    out["period"] = {{"effect", r.period ? json_number(r.period->effect) : Json(nullptr)},
                     {"p", r.period ? p(r.period->p) : Json(nullptr)}};
    out["carryover"] = {{"p", p(r.carryover_p)}};
    out["hodges_lehmann"] = {{"change", hl ? json_number(hl->change) : Json(nullptr)},
                             {"low", hl ? json_number(hl->low) : Json(nullptr)},
                             {"high", hl ? json_number(hl->high) : Json(nullptr)}};
    out["warnings"] = warnings_of(r.warnings);
    return out;
}

const char* status_name(datasets::ExperimentStatus status) {
    switch (status) {
        case datasets::ExperimentStatus::running:
            return "running";
        case datasets::ExperimentStatus::finished:
            return "finished";
        case datasets::ExperimentStatus::failed:
            return "failed";
        case datasets::ExperimentStatus::interrupted:
            return "interrupted";
    }
    return "";
}

Json record_of(const datasets::ExperimentRecord& record) {
    Json out;
    out["id"] = record.id;
    out["uuid"] = record.uuid;
    out["name"] = record.name;
    out["target"] = record.target;
    out["status"] = status_name(record.status);
    out["seed"] = record.seed;
    out["pairs"] = record.pairs;
    out["started"] = record.started;
    out["finished"] = record.finished;
    out["tool_version"] = record.tool_version;
    out["project_commit"] = record.project_commit;
    out["states"] = Json::array();
    for (const datasets::StateRecord& state : record.states) {
        out["states"].push_back({{"label", state.label}, {"spec", state.spec}});
    }
    out["workloads"] = Json::array();
    for (const datasets::WorkloadRecord& w : record.workloads) {
        out["workloads"].push_back({{"name", w.name},
                                    {"kind", w.kind},
                                    {"payload_bytes", w.payload_bytes},
                                    {"recv_bytes", w.recv_bytes},
                                    {"writes", w.writes}});
    }
    out["environment"] = Json::object();
    for (const auto& [key, value] : record.environment)
        out["environment"][key] = value;
    return out;
}

}  // namespace

std::string json(const Comparison& comparison) {
    Json out;
    out["schema"] = "vsockbench.comparison/1";
    out["experiment"] = comparison.experiment;
    out["method"] = stats::method_name(comparison.method);
    out["confidence"] = json_number(comparison.confidence);
    out["margin"] = json_number(comparison.margin);
    out["adjust"] = comparison.adjust;
    const auto& sign = comparison.table_sign;
    out["table_sign"] = {{"k", sign ? Json(sign->k) : Json(nullptr)},
                         {"n", sign ? Json(sign->n) : Json(nullptr)},
                         {"p", sign && !comparison.interim ? json_number(sign->p) : Json(nullptr)}};
    out["interim"] = comparison.interim;
    out["model"] = comparison.record && is_model(*comparison.record);
    out["rows"] = Json::array();
    for (const Row& row : comparison.rows)
        out["rows"].push_back(row_of(row, comparison.interim));
    out["means"] = Json::array();
    for (const MeansOnly& m : comparison.means) {
        out["means"].push_back({{"workload", m.workload},
                                {"metric", m.metric},
                                {"unit", m.unit},
                                {"a", json_number(m.a)},
                                {"b", json_number(m.b)}});
    }
    out["warnings"] = warnings_of(comparison.warnings);
    out["record"] = comparison.record ? record_of(*comparison.record) : Json(nullptr);
    // Two indenting blanks; every character beyond ASCII escaped; bytes that are no UTF-8 replaced
    // (dump() would throw).
    return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace vsb::reports
