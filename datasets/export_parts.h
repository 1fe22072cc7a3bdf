#pragma once
// What several of the exporting writers need.

#include <map>
#include <string>
#include <vector>

#include "datasets/export.h"

namespace vsb::datasets {

struct TrialNames {
    std::map<Id, const WorkloadRecord*> workload;
    std::map<Id, const StateRecord*> state;
    explicit TrialNames(const ExperimentRecord& record);  // which must outlive it
};

// One state's runs of one metric of one workload, as the comparison uses them.
struct Summary {
    std::string state;  // "A" or "B"
    std::string workload;
    std::string metric;
    std::string unit;
    bool headline = false;
    bool higher_is_better = true;
    std::size_t runs = 0;
    double mean = 0;  // geometric; arithmetic where a value is not above zero
    double least = 0;
    double greatest = 0;
};

// state: "A", "B", or empty for both. Throws std::invalid_argument for another one.
std::vector<Summary> summaries(const Recorded& recorded, const std::string& state);

// Throws std::invalid_argument naming the states there are. Empty: any.
void check_state(const ExperimentRecord& record, const std::string& state);

// "3 trials that are not ok"; nothing when there are none.
void leave_out(Exported& exported, std::size_t count, const std::string& what);

}  // namespace vsb::datasets
