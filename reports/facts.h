#pragma once
// What a reviewer asks about a measurement, as far as its record answers.

#include <string>
#include <utility>
#include <vector>

#include "reports/comparison.h"

namespace vsb::reports {

struct Fact {
    std::string label;  // of ours: "machine"
    std::string text;   // raw: escape it
};

// A and B and the project's commit; empty for a comparison without a record.
std::vector<Fact> state_facts(const Comparison& comparison);

// Pairs and order, method, and where there is a record: target, machine, settings, topology,
// pinning, costs, load, transfer per trial, byte checks, build, recording. What the record does not
// hold is left out, except machine, topology and pinning, which say "not recorded".
std::vector<Fact> method_facts(const Comparison& comparison);
std::vector<Fact> machine_facts(const Comparison& comparison);

// In how many headline rows B is better, with its p; empty with fewer than two rows.
std::string table_sign_text(const Comparison& comparison);

// Pairs by order over the headline rows: "16 pairs per workload (8 AB, 8 BA)", or the ranges where
// rows differ.
std::string pairs_text(const Comparison& comparison);

// Whether the figures are a model's: a virtual clock added named costs up, and nothing was
// measured.
bool is_model(const datasets::ExperimentRecord& record);
// "MODEL: " for such a comparison, else empty: it stands before every heading and table.
std::string model_tag(const Comparison& comparison);

// Whether the record says that A and B are one and the same state.
bool is_a_a(const Comparison& comparison);

// The spec of the state with this label; empty when there is none.
std::string state_spec(const Comparison& comparison, const std::string& label);

}  // namespace vsb::reports
