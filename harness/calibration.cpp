#include "harness/calibration.h"

#include <toml++/toml.h>

#include <stdexcept>

#include "harness/experiment_toml.h"
#include "harness/toml_text.h"
#include "harness/value_text.h"

namespace vsb::harness {
namespace {

std::string at(const std::string& name, const toml::source_region& where) {
    return name + ":" + std::to_string(where.begin.line) + ": ";
}

double number(const toml::node& node, const std::string& place) {
    const auto value = node.value<double>();
    if (!value || node.is_boolean()) throw std::invalid_argument(place + "must be a number");
    return *value;
}

std::string text_of(const toml::table& table, const char* key) {
    return table[key].value_or(std::string());
}

// `wake = 1200` or `wake = { ns = 1200, low = 1100, high = 1300 }`.
void read_cost(CostEstimate& cost, const toml::node& node, const std::string& place) {
    cost.low_ns.reset();
    cost.high_ns.reset();
    const toml::table* table = node.as_table();
    if (table == nullptr) {
        cost.ns = number(node, place);
        return;
    }
    if (!table->contains("ns")) throw std::invalid_argument(place + "has no key 'ns'");
    for (const auto& [word, item] : *table) {
        const double value = number(item, place);
        if (word.str() == "ns")
            cost.ns = value;
        else if (word.str() == "low")
            cost.low_ns = value;
        else if (word.str() == "high")
            cost.high_ns = value;
        else
            throw std::invalid_argument(place + "unknown key '" + std::string(word.str()) +
                                        "' (choose from ns, low, high)");
    }
    if (cost.low_ns.has_value() != cost.high_ns.has_value())
        throw std::invalid_argument(place + "low and high go together");
}

}  // namespace

std::string provenance_text(const Calibration& calibration) {
    const auto known = [](const std::string& text) { return text.empty() ? "unknown" : text; };
    std::string text = "calibrated " + known(calibration.measured) + " on " +
                       known(calibration.cpu_model) + ", " + known(calibration.kernel) + ", CPUs " +
                       known(calibration.cpus);
    std::string unmeasured;
    for (const CostEstimate& cost : calibration.costs) {
        if (!cost.measured()) unmeasured += (unmeasured.empty() ? "" : ", ") + cost.name;
    }
    if (!unmeasured.empty()) text += "; not measured there: " + unmeasured;
    return text;
}

engine::Costs costs_of(const Calibration& calibration) {
    engine::Costs costs = engine::default_costs();
    for (const CostEstimate& cost : calibration.costs)
        costs[engine::find_cost(cost.name)] = cost.ns;
    return costs;
}

std::string calibration_toml(const Calibration& calibration) {
    std::string text =
        "# What things cost on this machine, in nanoseconds, for the virtual clock. Written by\n"
        "# `vsockbench calibrate`; a value may be changed here. low and high: the interval that\n"
        "# holds the median with 96%. Without them: not measured, the built-in default.\n";
    text += "measured = " + toml_string(calibration.measured) + "\n";
    text += "cpu_model = " + toml_string(calibration.cpu_model) + "\n";
    text += "kernel = " + toml_string(calibration.kernel) + "\n";
    text += "cpus = " + toml_string(calibration.cpus) + "\n";
    text += "kernel_entry_ns = " + number_text(calibration.kernel_entry_ns) +
            "  # of a system call: the engine makes none for recv() and write(), so that none is "
            "charged\n";
    text += "load_of_others = " + number_text(calibration.load_of_others) + "\n\n[costs]\n";
    for (const CostEstimate& cost : calibration.costs) {
        const auto& info =
            engine::cost_table()[static_cast<std::size_t>(engine::find_cost(cost.name))];
        text += "# " + std::string(info.summary) + "\n" + cost.name +
                " = { ns = " + number_text(cost.ns);
        if (cost.measured())
            text +=
                ", low = " + number_text(*cost.low_ns) + ", high = " + number_text(*cost.high_ns);
        text += " }\n";
    }
    return text;
}

Calibration parse_calibration_toml(std::string_view text, const std::string& name) {
    toml::table table;
    try {
        table = toml::parse(text);
    } catch (const toml::parse_error& error) {
        throw std::invalid_argument(at(name, error.source()) + std::string(error.description()));
    }
    Calibration calibration;
    calibration.measured = text_of(table, "measured");
    calibration.cpu_model = text_of(table, "cpu_model");
    calibration.kernel = text_of(table, "kernel");
    calibration.cpus = text_of(table, "cpus");
    calibration.kernel_entry_ns = table["kernel_entry_ns"].value_or(0.0);
    calibration.load_of_others = table["load_of_others"].value_or(0.0);
    for (const engine::CostInfo& info : engine::cost_table())
        calibration.costs.push_back({std::string(info.name), info.default_ns, {}, {}});
    const toml::table* costs = table["costs"].as_table();
    if (costs == nullptr) throw std::invalid_argument(name + ": has no table [costs]");
    for (const auto& [word, node] : *costs) {
        const std::string place =
            at(name, word.source()) + "cost '" + std::string(word.str()) + "': ";
        try {
            const auto index = static_cast<std::size_t>(engine::find_cost(word.str()));
            read_cost(calibration.costs[index], node, place);
            engine::check_costs(costs_of(calibration));
        } catch (const std::invalid_argument& error) {
            const std::string what = error.what();
            throw std::invalid_argument(what.starts_with(place) ? what : place + what);
        }
    }
    return calibration;
}

engine::Costs parse_costs(std::string_view text, engine::Costs base) {
    for (const auto& [name, value] : split_assignments(text))
        base[engine::find_cost(name)] = parse_number(value);
    engine::check_costs(base);
    return base;
}

PriceList resolve_costs(std::string_view text) {
    PriceList list{engine::default_costs(), {}, false};
    std::string by_hand;
    for (const std::string& item : split_list(text)) {
        if (item.find('=') != std::string::npos) {
            list.costs = parse_costs(item, list.costs);
            by_hand += (by_hand.empty() ? "" : ", ") + item;
            continue;
        }
        const Calibration calibration = parse_calibration_toml(read_settings_file(item), item);
        list.costs = costs_of(calibration);
        list.calibrated = true;
        list.source = provenance_text(calibration);
        by_hand.clear();  // what stood before the file is overruled by it
    }
    if (!list.calibrated) list.source = "built-in round figures, of no machine at hand";
    if (!by_hand.empty()) list.source += "; given by hand: " + by_hand;
    return list;
}

std::string costs_text(const engine::Costs& costs) {
    std::string text;
    for (std::size_t i = 0; i < engine::kCosts; ++i)
        text += (text.empty() ? "" : ",") + std::string(engine::cost_table()[i].name) + "=" +
                number_text(costs.ns[i]);
    return text;
}

}  // namespace vsb::harness
