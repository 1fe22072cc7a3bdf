#pragma once
// Figures as every report prints them. Infinities and NaN come out as "n/a"; nothing prints "-0".

#include <optional>
#include <string>
#include <string_view>

#include "stats/comparison.h"

namespace vsb::reports {

// A fraction as a signed percentage: 0.9291 -> "+92.91%", -0.00001 -> "+0.00%"; from a million
// percent on "+1.00e+06%".
std::string percent(double fraction);

// Without a sign and without needless zeros: 0.95 -> "95%", 0.999 -> "99.9%".
std::string plain_percent(double fraction);

// "[+89.31%, +96.58%]", each bound padded on the left to its width.
std::string interval(const stats::Interval& ci, std::size_t low_width = 0,
                     std::size_t high_width = 0);

// A mean in its unit, as the published tables print it: four decimals for Gbit/s, three for us and
// cycles/B, four for other units (fewer from a thousand on), always at least four significant
// digits; whole numbers for counts (unit "1") from a thousand on; an exponent where the plain form
// would be longer than 12 characters.
std::string mean(double value, std::string_view unit);

// "0.031", "<0.001"; "-" when absent or no probability.
std::string p_value(const std::optional<double>& p);

// "16/16": the pairs in which B is the better one.
std::string faster(const stats::Faster& count);

// The shortest text that reads back as the same number; empty when not finite.
std::string exact(double value);
std::string exact(const std::optional<double>& value);

// "10,000".
std::string grouped(long long value);

}  // namespace vsb::reports
