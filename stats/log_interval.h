#pragma once
// An interval of a log ratio, as every method gives it.

namespace vsb::stats {

// confidence: what the interval reaches. Less than what was asked for only where a method built on
// ranks or signs has too few pairs; the bounds are then the widest that the method knows.
struct LogInterval {
    double low = 0;
    double high = 0;
    double confidence = 0;

    bool holds(double theta) const noexcept { return low <= theta && theta <= high; }
};

}  // namespace vsb::stats
