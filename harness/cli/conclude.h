#pragma once
// After measuring: what happened, on stderr, then the result.

#include <filesystem>
#include <functional>
#include <string>

#include "harness/cli/measure.h"
#include "reports/comparison.h"

namespace vsb::cli {

struct Conclusion {
    std::string command = "run";  // what resumes it: "run --resume 3"
    std::filesystem::path db;
    bool quiet = false;
    // Writes the result of what was recorded, also of a part (then the comparison is interim).
    std::function<void(const datasets::Store&, const datasets::ExperimentRecord&,
                       const reports::Comparison&)>
        write;
};

// Returns the exit code that says how it went.
int conclude(const Measured& measured, const Conclusion& how);

}  // namespace vsb::cli
