#pragma once
// The Go project's benchmark text format, as benchstat reads it (golang.org/x/perf/benchfmt): lines
// "BenchmarkNAME ITERATIONS VALUE UNIT [VALUE UNIT]...".

#include <string>
#include <string_view>

#include "datasets/export.h"
#include "datasets/foreign_file.h"

namespace vsb::datasets {

// Each benchmark is a workload, each of its lines a run; metric and unit are the unit as given, the
// first one the headline. Other lines are passed over as that format has it, but for "Unit" lines:
// one that calls better what this store calls worse is refused. Throws ImportError.
ForeignFile read_benchfmt(std::string_view text, const std::string& name);

// Each ok trial is a line, below a line "state: LABEL" (`benchstat -col state FILE` compares them);
// only those of one state when it is named. Throws std::invalid_argument for a state there is not.
Exported to_benchfmt(const Recorded& recorded, const std::string& state);

}  // namespace vsb::datasets
