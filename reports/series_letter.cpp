#include "reports/series_letter.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "reports/escape.h"
#include "reports/facts.h"
#include "reports/grid.h"
#include "reports/letter_parts.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLongestState = 16;

void check_name(const std::string& name) {
    const bool printable = std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f'; });
    if (name.empty() || name.size() > kLongestState || !printable) {
        throw std::invalid_argument("'" + ascii(name) +
                                    "' is no name for a state (1 to 16 printable characters)");
    }
}

// The states in order of first appearance, as facts: their names and SPECs.
std::vector<Fact> named_states(const std::vector<SeriesPart>& parts) {
    std::vector<Fact> states;
    const auto add = [&](const std::string& name, const std::string& spec) {
        for (const Fact& known : states) {
            if (known.label == name && known.text == spec) return;
            if (known.label == name) {
                throw std::invalid_argument("'" + name + "' names two states, " +
                                            ascii(known.text) + " and " + ascii(spec));
            }
            if (known.text == spec) {
                throw std::invalid_argument("the state " + ascii(spec) + " has two names, " +
                                            known.label + " and " + name);
            }
        }
        states.push_back({name, spec});
    };
    for (const SeriesPart& part : parts) {
        check_name(part.a);
        check_name(part.b);
        if (!part.comparison.record) {
            throw std::invalid_argument(ascii(part.comparison.experiment) + ": has no record");
        }
        if (is_model(*part.comparison.record) != is_model(*parts.front().comparison.record)) {
            throw std::invalid_argument(ascii(part.comparison.experiment) +
                                        ": a model and a measurement do not go into one letter");
        }
        add(part.a, state_spec(part.comparison, "A"));
        add(part.b, state_spec(part.comparison, "B"));
    }
    return states;
}

std::vector<Fact> facts_of(const SeriesPart& part) {
    std::vector<Fact> facts;
    for (Fact& fact : state_facts(part.comparison)) {
        if (fact.label == "commit") facts.push_back(std::move(fact));
    }
    for (auto* const group : {method_facts, machine_facts}) {
        for (Fact& fact : group(part.comparison))
            facts.push_back(std::move(fact));
    }
    return facts;
}

bool holds(const std::vector<Fact>& facts, const Fact& fact) {
    return std::ranges::any_of(
        facts, [&](const Fact& f) { return f.label == fact.label && f.text == fact.text; });
}

}  // namespace

std::string series_letter(const std::vector<SeriesPart>& parts) {
    if (parts.empty()) throw std::invalid_argument("a letter needs an experiment");
    const std::string states = letter_facts(named_states(parts));
    std::string out = "Performance:\n\n" + letter_model(parts.front().comparison) + states + "\n";
    std::vector<std::vector<Fact>> facts;
    facts.reserve(parts.size());
    for (const SeriesPart& part : parts)
        facts.push_back(facts_of(part));
    std::vector<Fact> common = facts.front();
    std::erase_if(common, [&](const Fact& fact) {
        return !std::ranges::all_of(facts, [&](const auto& all) { return holds(all, fact); });
    });
    out += letter_facts(common);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto& [comparison, a, b] = parts[i];
        out += fmt::format("\n{} (B) against {} (A):\n", b, a);
        if (comparison.interim) {
            out += "\n" + wrap(
                              "INTERIM: the run is under way. These are estimates so far, not a "
                              "result.",
                              kLetterColumns);
        }
        std::vector<Fact> own = facts[i];
        std::erase_if(own, [&](const Fact& fact) { return holds(common, fact); });
        if (!own.empty()) out += "\n" + letter_facts(own);
        out += letter_notes(comparison);
        if (comparison.rows.empty()) out += "\nNo rows: nothing to compare.\n";
        const bool recv_default = a == "baseline" && b == "PATCH";
        out += letter_tables(comparison,
                             {a, b, recv_default ? "base/patch" : fmt::format("{}/{}", a, b)});
    }
    return out;
}

}  // namespace vsb::reports
