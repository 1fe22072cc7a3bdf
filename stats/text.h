#pragma once
// Numbers inside the sentences of warnings; figures of a result are formatted by whoever prints it.

#include <string>

namespace vsb::stats {

std::string short_number(double x);          // three significant digits: 0.0171, 1.2e-06
std::string short_percent(double fraction);  // two decimals and a sign: +1.25%

}  // namespace vsb::stats
