#pragma once
// `perf stat` output as a foreign file: receivers/perf reads it, and may know no other room.

#include <string>
#include <string_view>

#include "datasets/foreign_file.h"

namespace vsb::cli {

// One run of the workload "perf-stat", each event a metric in its order; the first that has a count
// above zero is the headline. Events without one are left out with a note. separator is found by
// looking: one of , ; | and tab. Throws datasets::ImportError.
datasets::ForeignFile read_perf_stat(std::string_view text, const std::string& name);
datasets::ForeignFile read_perf_stat_json(std::string_view text, const std::string& name);

}  // namespace vsb::cli
