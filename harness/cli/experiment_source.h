#pragma once
// The experiment that a command line asks for.

#include <string>

#include "harness/experiment.h"
#include "harness/settings.h"

namespace vsb::cli {

// A preset's or a TOML file's settings (none for an empty source) with `given` over them, a seed
// drawn where none is given. A file without a name is named after itself. Says on stderr when pairs
// were rounded up. Throws Failure (2) and what the readers throw.
harness::Experiment new_experiment(const std::string& source, const harness::Settings& given);

}  // namespace vsb::cli
