#include "reports/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reports/figures.h"
#include "reports/transfer.h"

namespace vsb::reports {
namespace {

using datasets::ExperimentRecord;

// Environment values are read one by one; an absent or empty one is "".
class Environment {
  public:
    explicit Environment(const ExperimentRecord& record) : record_(record) {}
    std::string operator()(const std::string& key) const {
        const auto found = record_.environment.find(key);
        return found == record_.environment.end() ? "" : found->second;
    }

  private:
    const ExperimentRecord& record_;
};

// "governor performance, turbo off": the parts that are known.
class Parts {
  public:
    void add(std::string_view before, const std::string& value, std::string_view after = "") {
        if (value.empty()) return;
        if (!text_.empty()) text_ += ", ";
        text_ += fmt::format("{}{}{}", before, value, after);
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

// Measured by another program: what vsockbench does in a run cannot be said of it.
bool is_imported(const ExperimentRecord& record) {
    return record.target == "import";
}

std::string or_unknown(const std::string& text) {
    return text.empty() ? "not recorded" : text;
}

void add(std::vector<Fact>& facts, const char* label, const std::string& text) {
    if (!text.empty()) facts.push_back({label, text});
}

std::string machine(const Environment& env) {
    Parts parts;
    if (!env("model.cpus").empty()) {
        parts.add("none, a virtual clock with ", env("model.cpus"), " virtual CPUs");
        parts.add("costs drawn around their prices by up to ", env("model.jitter"), " of them");
        return parts.text();
    }
    parts.add("", env("cpu_model"));
    parts.add("", env("cpus_online"), " CPUs online");
    parts.add("", env("cpus_allowed"), " allowed");
    parts.add("kernel ", env("kernel"));
    parts.add("virtualization ", env("virtualization"));
    return parts.text();
}

std::string settings(const Environment& env) {
    Parts parts;
    parts.add("governor ", env("governor"));
    parts.add("turbo ", env("turbo"));
    parts.add("SMT ", env("smt"));
    parts.add("isolated CPUs ", env("isolated_cpus"));
    parts.add("clock source ", env("clock_source"));
    parts.add("mitigations ", env("mitigations"));
    return parts.text();
}

std::string pinning(const ExperimentRecord& record) {
    Parts parts;
    constexpr std::string_view kPrefix = "cpu.";
    for (const auto& [key, value] : record.environment) {
        if (key.rfind(kPrefix, 0) != 0) continue;
        parts.add(key.substr(kPrefix.size()) + " on CPU ", value);
    }
    return parts.text();
}

std::string costs(const Environment& env) {
    Parts parts;
    if (!env("model.costs_from").empty()) return env("model.costs_from");
    parts.add("wakeup ", env("machine.wake_cost_ns"), " ns for the waker");
    parts.add("wakeup ", env("machine.wake_latency_ns"), " ns until the woken thread runs");
    parts.add("system call ", env("machine.syscall_cost_ns"), " ns");
    parts.add("cache-line round trip ", env("machine.cache_line_round_trip_ns"), " ns");
    return parts.text();
}

std::string load(const Environment& env) {
    Parts parts;
    parts.add("start ", env("load_start"));
    parts.add("end ", env("load_end"));
    parts.add("of others ", env("machine.load_of_others"));
    return parts.text();
}

// The value of a top-level string key of the stored TOML, which the harness writes one key a line.
std::string config_text(const std::string& config, std::string_view key) {
    const std::string start = fmt::format("{} = \"", key);
    std::size_t at = config.rfind(start, 0) == 0 ? 0 : config.find("\n" + start);
    if (at == std::string::npos) return "";
    at = config.find('"', at) + 1;
    const std::size_t end = config.find('"', at);
    return end == std::string::npos ? "" : config.substr(at, end - at);
}

// What was measured, said so that nobody takes a model for a kernel.
std::string target_text(const std::string& target) {
    if (target == "engine") {
        return "engine: the receive path modelled in one process in user space, not a kernel";
    }
    if (target == "model") {
        return "model: the engine's code under a virtual clock that adds named costs up; nothing "
               "was measured, order may carry over to a machine and magnitudes do not";
    }
    if (target == "host") return "host: the socket tools on this machine's own kernel";
    if (target == "guest") return "guest: virtual machines started for this experiment";
    if (target == "import") return "import: measured by another program, on a machine not recorded";
    return target;
}

std::string method_text(const Comparison& comparison) {
    std::string rule;
    switch (comparison.method) {
        case stats::Method::crossover_t:
            rule = "AB/BA crossover t";
            break;
        case stats::Method::paired_t:
            rule = "paired t";
            break;
        case stats::Method::normal:
            rule = "paired, normal approximation";
            break;
        case stats::Method::hodges_lehmann:
            rule = "Hodges-Lehmann, exact signed-rank interval";
            break;
        case stats::Method::sign:
            rule = "median, order-statistic interval";
            break;
        case stats::Method::bca:
            rule = "BCa bootstrap";
            break;
        case stats::Method::permutation:
            rule = "permutation test";
            break;
    }
    std::string text = fmt::format(
        "{} on the pairs' log ratios ({}); change = B/A - 1 of geometric means, {} intervals", rule,
        stats::method_name(comparison.method), plain_percent(comparison.confidence));
    const auto rows = std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                    [](const Row& row) { return row.headline; });
    if (rows > 1) text += fmt::format(", each of {} rows by itself", rows);
    if (comparison.margin) {
        text += fmt::format("; equivalence margin {}", plain_percent(*comparison.margin));
    }
    if (comparison.adjust != "none") {
        text += fmt::format("; p adjusted over the table: {}", comparison.adjust);
    }
    if (std::any_of(comparison.rows.begin(), comparison.rows.end(),
                    [](const Row& row) { return row.simultaneous.has_value(); })) {
        text +=
            fmt::format("; the intervals \"all rows\" hold for all headline rows at once with {}",
                        plain_percent(comparison.confidence));
    }
    return text;
}

}  // namespace

std::string state_spec(const Comparison& comparison, const std::string& label) {
    if (!comparison.record) return "";
    for (const datasets::StateRecord& state : comparison.record->states) {
        if (state.label == label)
            return state.spec.empty() ? "as built, no SPEC given" : state.spec;
    }
    return "";
}

bool is_model(const ExperimentRecord& record) {
    return record.target == "model";
}

std::string model_tag(const Comparison& comparison) {
    return comparison.record && is_model(*comparison.record) ? "MODEL: " : "";
}

bool is_a_a(const Comparison& comparison) {
    const std::string a = state_spec(comparison, "A");
    return !a.empty() && a == state_spec(comparison, "B");
}

std::string pairs_text(const Comparison& comparison) {
    std::size_t least = 0;
    std::size_t most = 0;
    std::size_t n_ab = 0;
    std::size_t n_ba = 0;
    bool same = true;
    bool first = true;
    for (const Row& row : comparison.rows) {
        if (!row.headline) continue;
        const std::size_t n = row.result.n_ab + row.result.n_ba;
        if (first) {
            least = most = n;
            n_ab = row.result.n_ab;
            n_ba = row.result.n_ba;
        }
        first = false;
        same = same && row.result.n_ab == n_ab && row.result.n_ba == n_ba;
        least = std::min(least, n);
        most = std::max(most, n);
    }
    if (first) return "no pairs";
    if (same) return fmt::format("{} pairs per workload ({} AB, {} BA)", most, n_ab, n_ba);
    if (least == most)
        return fmt::format("{} pairs per workload (their orders differ by row)", most);
    return fmt::format("{} to {} pairs per workload (it differs by row)", least, most);
}

std::string table_sign_text(const Comparison& comparison) {
    if (!comparison.table_sign) return "";
    const TableSign& sign = *comparison.table_sign;
    std::string text = fmt::format("B is better in {} of {} headline rows", sign.k, sign.n);
    if (!comparison.interim) {
        text += fmt::format(" (sign p {}, the pairs flipped over all rows)", p_value(sign.p));
    }
    return text;
}

std::vector<Fact> state_facts(const Comparison& comparison) {
    std::vector<Fact> facts;
    if (!comparison.record) return facts;
    const std::string a = state_spec(comparison, "A");
    const std::string b = state_spec(comparison, "B");
    if (is_a_a(comparison)) {
        facts.push_back({"A and B", a + " (one and the same state: an A/A run)"});
    } else {
        facts.push_back({"A, baseline", or_unknown(a)});
        facts.push_back({"B, PATCH", or_unknown(b)});
    }
    add(facts, "commit", comparison.record->project_commit);
    return facts;
}

std::vector<Fact> method_facts(const Comparison& comparison) {
    std::vector<Fact> facts;
    std::string pairs = pairs_text(comparison);
    if (comparison.record) {
        const ExperimentRecord& record = *comparison.record;
        if (is_imported(record)) {
            pairs += ", in the order they were made in";
        } else {
            pairs += fmt::format(", order randomised in balanced blocks from seed {}", record.seed);
        }
        const std::string fresh = config_text(record.config, "fresh");
        if (fresh == "trial") pairs += ", every trial in a fresh state";
        if (fresh == "state") pairs += ", a fresh state whenever the state changes";
        if (fresh == "run") pairs += ", each state set up once";
    }
    facts.push_back({"pairs", pairs});
    if (comparison.record) {
        add(facts, "planned", Environment(*comparison.record)("plan.rule"));
    }
    facts.push_back({"method", method_text(comparison)});
    add(facts, "table", table_sign_text(comparison));
    if (comparison.record) {
        add(facts, "transfer", transfer_text(*comparison.record));
        if (is_imported(*comparison.record)) {
            facts.push_back({"bytes", "not checked by vsockbench: the figures are imported"});
            return facts;
        }
        facts.push_back(
            {"bytes",
             "checked in every trial; a trial whose bytes did not arrive as sent counts "
             "as failed, and its pair is left out"});
    }
    return facts;
}

std::vector<Fact> machine_facts(const Comparison& comparison) {
    std::vector<Fact> facts;
    if (!comparison.record) return facts;
    const ExperimentRecord& record = *comparison.record;
    const Environment env(record);
    add(facts, "target", target_text(record.target));
    facts.push_back({"machine", or_unknown(machine(env))});
    add(facts, "settings", settings(env));
    facts.push_back({"topology", or_unknown(env("topology"))});
    facts.push_back({"pinning", or_unknown(pinning(record))});
    add(facts, "costs", costs(env));
    add(facts, "prices, ns", env("model.costs_ns"));
    add(facts, "load", load(env));
    Parts build;
    build.add("", env("compiler"));
    build.add("", env("build_type"));
    add(facts, "build", build.text());
    Parts recorded;
    recorded.add("vsockbench ", record.tool_version);
    recorded.add("experiment ", record.name);
    recorded.add("", record.uuid);
    recorded.add("started ", record.started);
    recorded.add("finished ", record.finished);
    add(facts, "recorded", recorded.text());
    return facts;
}

}  // namespace vsb::reports
