#pragma once
// Whether a metric's name and unit say that more of it is better.

#include <optional>
#include <string_view>

namespace vsb::datasets {

// The unit decides where there is one: a rate (Gbit/s, MB/s, Mpps, Hz) yes, anything else (us,
// cycles/B, 1) no. Without a unit the words of the metric's name do; nullopt when none of them
// says.
std::optional<bool> says_higher_is_better(std::string_view metric, std::string_view unit);

}  // namespace vsb::datasets
