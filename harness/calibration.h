#pragma once
// What this machine's named costs are (engine/costs.h), measured in a second or two, and the file
// that keeps them: what the engine's own operations take here. What only a kernel and a hypervisor
// charge (system_call, kick, interrupt) a measured run of the engine never pays: it keeps its
// default, 0, until somebody asks for it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/costs.h"

namespace vsb::harness {

struct CostEstimate {
    std::string name;  // of engine/costs.h
    double ns = 0;     // median of the rounds, or the default
    // Interval that holds the median with 96%: the 2nd and the 8th of 9 rounds. Unset: not
    // measured.
    std::optional<double> low_ns;
    std::optional<double> high_ns;

    bool measured() const { return low_ns.has_value(); }
    bool operator==(const CostEstimate&) const = default;
};

struct Calibration {
    std::string measured;  // UTC, ISO 8601
    std::string cpu_model;
    std::string kernel;
    std::string cpus;                 // the two it was measured on: "0,1"
    double kernel_entry_ns = 0;       // of a system call: what system_call=NS might be, not charged
    double load_of_others = 0;        // share of these CPUs' time that others took, 0 to 1
    std::vector<CostEstimate> costs;  // each of engine/costs.h once, in its order

    bool operator==(const Calibration&) const = default;
};

inline constexpr int kCalibrationRounds = 9;

// On two CPUs this process may run on; with equal ones the costs that need two keep their defaults.
// Fills in the costs and the load; the rest is the caller's. Throws std::system_error.
Calibration measure_costs(int cpu, int other_cpu);

// Where and when, in one line, and which costs it does not hold.
std::string provenance_text(const Calibration& calibration);

engine::Costs costs_of(const Calibration& calibration);

// As a TOML file that a person may read and change, and back. A cost that the file does not name
// keeps its default. Throws std::invalid_argument naming `name` and the line.
std::string calibration_toml(const Calibration& calibration);
Calibration parse_calibration_toml(std::string_view text, const std::string& name);

// "wake=1200,kick=0" over `base`. Throws std::invalid_argument.
engine::Costs parse_costs(std::string_view text, engine::Costs base);

// What a `costs` key means: items parted by commas, each a file that calibration_toml() wrote or
// NAME=NS; later ones win, and what none names is built in. `source` says where the prices come
// from. Throws std::invalid_argument (naming file and line) and std::system_error.
struct PriceList {
    engine::Costs costs;
    std::string source;
    bool calibrated = false;  // a file gave some of it
};
PriceList resolve_costs(std::string_view text);
// Every cost, so that parse_costs reads it back to the same digits.
std::string costs_text(const engine::Costs& costs);

}  // namespace vsb::harness
