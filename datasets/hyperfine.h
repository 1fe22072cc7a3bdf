#pragma once
// What `hyperfine --export-json FILE` writes: each command a workload, each of its times a run.

#include <string>
#include <string_view>

#include "datasets/foreign_file.h"

namespace vsb::datasets {

// The headline, and only metric, is time in s. Throws ImportError: also for a command that is there
// twice, and for a run that exited with an error.
ForeignFile read_hyperfine(std::string_view text, const std::string& name);

}  // namespace vsb::datasets
