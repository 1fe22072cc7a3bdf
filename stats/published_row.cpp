#include "stats/published_row.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "stats/distributions.h"
#include "stats/text.h"

namespace vsb::stats {

namespace {

using Range = ChangeRange;

// Bounds that touch but for rounding meet: a row is only refused when no rounding explains it.
bool meet(const Range& x, const Range& y) {
    const double slack = 1e-12 * (1 + std::max({std::abs(x.high), std::abs(y.high)}));
    return x.low <= y.high + slack && y.low <= x.high + slack;
}

std::string between(const Range& range) {
    return short_percent(range.low) + " to " + short_percent(range.high);
}

Range around(const Printed& x) {
    return {x.value - x.half_unit, x.value + x.half_unit};
}

// The least and greatest product of one number of each range; no number below 0.
Range root_of_product(Range x, Range y) {
    x.low = std::max(0.0, x.low);
    y.low = std::max(0.0, y.low);
    return {std::sqrt(x.low * y.low), std::sqrt(x.high * y.high)};
}

Range plus_one(const Range& x) {
    return {1 + x.low, 1 + x.high};
}

bool agree(const Range& changes, const Printed& change) {
    return meet(plus_one(changes), plus_one(around(change)));
}

// As in "the change is +1.00%, but the means give ...".
std::string against(const Printed& change, const char* what, const Range& changes) {
    return "the change is " + short_percent(change.value) + ", but " + what + " " +
           between(changes);
}

void check_interval(const PublishedRow& row, RowCheck& out) {
    if (row.low->value > row.high->value) {
        out.interval_agrees = false;
        out.reason = "the bounds stand in the wrong order";
        return;
    }
    const Range middle = root_of_product(plus_one(around(*row.low)), plus_one(around(*row.high)));
    out.by_interval = Range{middle.low - 1, middle.high - 1};
    out.interval_agrees = agree(*out.by_interval, *row.change);
    if (out.interval_agrees) return;
    out.reason =
        against(*row.change, "the interval's middle on the log scale lies at", *out.by_interval);
}

void check_means(const PublishedRow& row, RowCheck& out) {
    const Range a = around(*row.a);
    const Range b = around(*row.b);
    out.by_means = Range{b.low / a.high - 1, b.high / a.low - 1};
    out.means_agree = agree(*out.by_means, *row.change);
    if (out.means_agree) return;
    if (!out.reason.empty()) out.reason += "; ";
    out.reason += against(*row.change, "the means give", *out.by_means);
}

void add_se_and_p(RowCheck& out, const PublishedRow& row, const PublishedOptions& options) {
    if (!options.pairs || row.low->value <= -1 || row.low->value >= row.high->value) return;
    std::optional<double> df;
    if (options.method != PublishedMethod::normal) {
        const double lost = options.method == PublishedMethod::crossover_t ? 2 : 1;
        df = static_cast<double>(*options.pairs) - lost;
        if (*df < 1) return;
    }
    const double upper = (1 + options.confidence) / 2;
    const double quantile = df ? t_quantile(upper, *df) : normal_quantile(upper);
    out.se = (std::log1p(row.high->value) - std::log1p(row.low->value)) / (2 * quantile);
    if (!row.change || row.change->value <= -1) return;
    const double statistic = std::log1p(row.change->value) / *out.se;
    out.p = df ? t_two_sided_p(statistic, *df) : normal_two_sided_p(statistic);
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Printed parse_printed(std::string_view text) {
    const auto refuse = [&]() -> Printed {
        throw std::invalid_argument("'" + std::string(text) + "' is not a printed number");
    };
    std::string_view rest = trimmed(text);
    bool percent = false;
    if (!rest.empty() && rest.back() == '%') {
        percent = true;
        rest = trimmed(rest.substr(0, rest.size() - 1));
    }
    double sign = 1;
    if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) {
        sign = rest.front() == '-' ? -1 : 1;
        rest = trimmed(rest.substr(1));
    }
    if (rest.empty() || rest.find_first_not_of("0123456789.") != std::string_view::npos) {
        return refuse();
    }
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc{} || end != rest.data() + rest.size()) return refuse();
    const auto point = rest.find('.');
    const std::size_t decimals = point == std::string_view::npos ? 0 : rest.size() - point - 1;
    const double unit = std::pow(10.0, -static_cast<double>(decimals));
    const double scale = percent ? 100 : 1;
    return {sign * value / scale, unit / 2 / scale};
}

std::string_view consistency_name(Consistency c) {
    switch (c) {
        case Consistency::consistent:
            return "consistent";
        case Consistency::inconsistent:
            return "inconsistent";
        case Consistency::not_checkable:
            return "not-checkable";
    }
    throw std::invalid_argument("consistency: not one of the enumeration's values");
}

RowCheck check_published_row(const PublishedRow& row, const PublishedOptions& options) {
    if (!(options.confidence > 0 && options.confidence < 1)) {
        throw std::invalid_argument("published row: a confidence between 0 and 1 is needed");
    }
    RowCheck out;
    const bool interval = row.low && row.high;
    if (!row.change) {
        out.reason = "no change is printed";
        return out;
    }
    const bool means = row.a && row.b && row.a->value - row.a->half_unit > 0 && row.b->value >= 0;
    if (!interval && !means) {
        out.reason = "neither an interval nor two means above zero are printed beside the change";
        return out;
    }
    out.verdict = Consistency::consistent;
    if (interval) {
        check_interval(row, out);
        add_se_and_p(out, row, options);
    }
    if (means) check_means(row, out);
    if (!out.reason.empty()) out.verdict = Consistency::inconsistent;
    return out;
}

}  // namespace vsb::stats
