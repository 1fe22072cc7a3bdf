#pragma once
// Published tables back as text.

#include <string>

#include "datasets/published.h"

namespace vsb::reports {

// Every section, caption, heading and row as printed and in that order; only runs of blanks differ.
std::string published_tables(const datasets::PublishedSeries& series);

}  // namespace vsb::reports
