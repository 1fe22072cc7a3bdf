#pragma once
// Is a printed row of a results table possible? A row c [lo, hi] was rounded for print, so each
// field stands for value -+ h with h half a unit of its own last digit. It is consistent if and
// only if
//   [sqrt((1+lo-h)(1+hi-h)), sqrt((1+lo+h)(1+hi+h))] meets [1+c-h, 1+c+h]
// (an interval made on the log scale has its ratio at the geometric mean of the bounds), and
// printed means A and B if and only if c (+-h) meets [(B-h)/(A+h) - 1, (B+h)/(A-h) - 1]. Given the
// number of pairs, the interval also yields the standard error and p.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vsb::stats {

// A printed number, and half a unit of its last digit in the same unit.
struct Printed {
    double value = 0;
    double half_unit = 0;
};

// "0.1290" -> 0.1290 -+ 0.00005; "+92.91%" -> 0.9291 -+ 0.00005; blanks around and after the sign
// are passed over. Throws std::invalid_argument for anything else.
Printed parse_printed(std::string_view text);

struct PublishedRow {
    std::optional<Printed> a;  // the two printed means, in any one unit
    std::optional<Printed> b;
    std::optional<Printed> change;  // fraction
    std::optional<Printed> low;     // its interval, fractions
    std::optional<Printed> high;
};

enum class Consistency : std::uint8_t { consistent, inconsistent, not_checkable };
std::string_view consistency_name(Consistency c);  // "consistent", "inconsistent", "not-checkable"

// How the published interval was made, which a mail says and a table does not.
enum class PublishedMethod : std::uint8_t { crossover_t, paired_t, normal };

struct PublishedOptions {
    std::optional<std::size_t> pairs = {};  // without it no se and no p
    double confidence = 0.95;
    PublishedMethod method = PublishedMethod::crossover_t;
};

// The changes that what stands beside the printed one allows, fractions.
struct ChangeRange {
    double low = 0;
    double high = 0;
};

struct RowCheck {
    Consistency verdict = Consistency::not_checkable;
    std::string reason;                      // a sentence, empty when consistent
    std::optional<ChangeRange> by_interval;  // around the bounds' middle on the log scale
    std::optional<ChangeRange> by_means;
    bool interval_agrees = true;  // with the printed change, where there is one
    bool means_agree = true;      // likewise
    std::optional<double> se;     // of ln(B/A)
    std::optional<double> p;      // two-sided, of no change
};

// Throws std::invalid_argument for a confidence outside (0, 1).
RowCheck check_published_row(const PublishedRow& row, const PublishedOptions& options = {});

}  // namespace vsb::stats
