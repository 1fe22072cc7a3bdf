#include "reports/audit_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace vsb::reports {
namespace {

using stats::ChangeRange;
using stats::Printed;
using stats::PublishedRow;

// With the decimals of a number printed beside it.
std::string like(const Printed& model, double value, bool percent) {
    const double half = percent ? 100 * model.half_unit : model.half_unit;
    const double digits = half > 0 ? -std::log10(2 * half) : 15;
    const int decimals = static_cast<int>(std::lround(std::clamp(digits, 0.0, 15.0)));
    if (!percent) return fmt::format("{:.{}f}", value, decimals);
    std::string text = fmt::format("{:+.{}f}%", 100 * value, decimals);
    const bool zero = text.find_first_of("123456789") == std::string::npos;
    if (zero) text.front() = '+';
    return text;
}

std::string range_text(const Printed& model, const ChangeRange& range) {
    const std::string low = like(model, range.low, true);
    const std::string high = like(model, range.high, true);
    return low == high ? low : low + " to " + high;
}

// Of what the interval and the means allow, where they allow anything in common.
double middle(const ChangeRange& interval, const std::optional<ChangeRange>& means) {
    const double low = means ? std::max(interval.low, means->low) : interval.low;
    const double high = means ? std::min(interval.high, means->high) : interval.high;
    return low <= high ? (low + high) / 2 : (interval.low + interval.high) / 2;
}

// The rule itself judges every value before it is named.
class Agreeing {
  public:
    explicit Agreeing(const PublishedRow& row) : row_(row) {}

    void change(double value) { propose(&PublishedRow::change, "a change of ", value, true); }
    void low(double value) { propose(&PublishedRow::low, "a lower bound of ", value, true); }
    void high(double value) { propose(&PublishedRow::high, "an upper bound of ", value, true); }
    void a(double value) { propose(&PublishedRow::a, "a first mean of ", value, false); }
    void b(double value) { propose(&PublishedRow::b, "a second mean of ", value, false); }

    std::string text() const {
        std::string out;
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            if (i > 0) out += i + 1 == texts_.size() ? " or " : ", ";
            out += texts_[i];
        }
        return out.empty() ? out : out + " would agree";
    }

  private:
    void propose(std::optional<Printed> PublishedRow::*field, const char* what, double value,
                 bool percent) {
        if (!std::isfinite(value) || std::abs(value) > 1e12) return;
        const Printed model = *(row_.*field);
        const std::string text = like(model, value, percent);
        PublishedRow mended = row_;
        mended.*field = Printed{stats::parse_printed(text).value, model.half_unit};
        if (stats::check_published_row(mended).verdict != stats::Consistency::consistent) return;
        texts_.push_back(what + text);
    }

    PublishedRow row_;
    std::vector<std::string> texts_;
};

}  // namespace

std::string audit_reason(const PrintedRow& texts, const PublishedRow& row,
                         const stats::RowCheck& check) {
    const Printed& change = *row.change;
    std::string reason = "the change is " + texts.change;
    if (!check.interval_agrees && !check.by_interval) {
        return "the bounds " + texts.low + " and " + texts.high + " stand in the wrong order";
    }
    if (!check.interval_agrees) {
        reason += fmt::format(", the interval [{}, {}] has its middle at {}", texts.low, texts.high,
                              range_text(change, *check.by_interval));
    }
    if (!check.means_agree) {
        reason += fmt::format(", the means {} and {} give {}", texts.a, texts.b,
                              range_text(change, *check.by_means));
    }
    Agreeing agreeing(row);
    if (check.by_interval) agreeing.change(middle(*check.by_interval, check.by_means));
    if (!check.by_interval && check.by_means) {
        agreeing.change(row.b->value / row.a->value - 1);
    }
    const double ratio = 1 + change.value;
    if (!check.interval_agrees) {
        agreeing.low(ratio * ratio / (1 + row.high->value) - 1);
        agreeing.high(ratio * ratio / (1 + row.low->value) - 1);
    }
    if (!check.means_agree) {
        agreeing.a(row.b->value / ratio);
        agreeing.b(row.a->value * ratio);
    }
    const std::string agree = agreeing.text();
    return agree.empty() ? reason : reason + ": " + agree;
}

}  // namespace vsb::reports
