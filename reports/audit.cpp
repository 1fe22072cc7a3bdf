#include "reports/audit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "reports/audit_reason.h"
#include "reports/mail_tables.h"

namespace vsb::reports {
namespace {

using stats::Consistency;
using stats::Printed;

constexpr std::size_t kMostMeans = 8;  // numbers before a change that are tried as its means

// As stats::parse_printed, with an exponent.
std::optional<Printed> printed(const std::string& text) {
    const auto e = text.find('e');
    try {
        Printed value = stats::parse_printed(std::string_view(text).substr(0, e));
        if (e != std::string::npos) {
            const double scale = std::pow(10.0, std::stoi(text.substr(e + 1)));
            value.value *= scale;
            value.half_unit *= scale;
        }
        if (!std::isfinite(value.value)) return std::nullopt;
        return value;
    } catch (const std::logic_error&) {
        return std::nullopt;
    }
}

// "+1.00e+06%"
std::optional<Printed> printed_percent(const std::string& text) {
    if (text.find('e') == std::string::npos) return printed(text);
    auto value = printed(text.substr(0, text.size() - 1));
    if (value) {
        value->value /= 100;
        value->half_unit /= 100;
    }
    return value;
}

// Two tables of one set of rows, the changes in the first and the intervals in the second, as one.
void join_intervals(std::vector<FoundRow>& rows) {
    std::vector<std::pair<std::size_t, std::size_t>> blocks;  // [begin, end) of each paragraph
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i == 0 || rows[i].paragraph != rows[i - 1].paragraph) blocks.emplace_back(i, i);
        blocks.back().second = i + 1;
    }
    const auto all = [&](std::size_t b, auto holds) {
        for (std::size_t i = blocks[b].first; i < blocks[b].second; ++i) {
            if (!holds(rows[i].claim)) return false;
        }
        return true;
    };
    std::vector<bool> gone(rows.size(), false);
    for (std::size_t b = 1; b < blocks.size(); ++b) {
        const auto [begin, end] = blocks[b];
        const auto [before, before_end] = blocks[b - 1];
        bool joins = end - begin == before_end - before &&
                     all(b, [](const Claim& c) { return c.change.empty() && !c.low.empty(); }) &&
                     all(b - 1, [](const Claim& c) { return c.low.empty(); });
        for (std::size_t i = 0; joins && i < end - begin; ++i)
            joins = rows[begin + i].claim.label == rows[before + i].claim.label;
        for (std::size_t i = 0; joins && i < end - begin; ++i) {
            FoundRow& row = rows[before + i];
            const FoundRow& interval = rows[begin + i];
            row.claim.low = interval.claim.low;
            row.claim.high = interval.claim.high;
            row.pairs = interval.pairs;
            row.confidence = interval.confidence;
            row.normal = interval.normal;
            gone[begin + i] = true;
        }
    }
    std::size_t i = 0;
    std::erase_if(rows, [&](const FoundRow&) { return gone[i++]; });
}

// "10/10" in every row of a table is a count of pairs, not two means. Paragraphs whose x/y columns
// are counts: one denominator, never exceeded, in two rows or more.
std::map<std::size_t, bool> counting_paragraphs(const std::vector<FoundRow>& rows) {
    struct Seen {
        std::size_t rows = 0;
        std::string denominator;
        bool count = true;
    };
    std::map<std::size_t, Seen> seen;
    for (const FoundRow& row : rows) {
        if (row.claim.pair_a.empty()) continue;
        Seen& here = seen[row.paragraph];
        if (here.rows++ == 0) here.denominator = row.claim.pair_b;
        const auto a = printed(row.claim.pair_a);
        const auto b = printed(row.claim.pair_b);
        here.count =
            here.count && row.claim.pair_b == here.denominator && a && b && a->value <= b->value;
    }
    std::map<std::size_t, bool> counting;
    for (const auto& [paragraph, here] : seen)
        counting[paragraph] = here.count && here.rows > 1;
    return counting;
}

// "0.1290 -> 0.2489 Gbit/s" says it once.
bool same_unit(const PlainMean& a, const PlainMean& b) {
    return a.unit == b.unit || a.unit.empty() || b.unit.empty();
}

class Check {
  public:
    Check(const FoundRow& found, const AuditOptions& options, bool pair_counts)
        : found_(found), pair_counts_(pair_counts) {
        settings_.pairs = options.pairs ? options.pairs : found.pairs;
        if (!options.pairs && found.claim.pairs > 0) settings_.pairs = found.claim.pairs;
        settings_.confidence = options.confidence.value_or(found.confidence);
        settings_.method = options.method.value_or(
            found.normal ? stats::PublishedMethod::normal : stats::PublishedMethod::crossover_t);
        out_.label = found.claim.label;
        out_.caption = found.caption;
        out_.line = found.line;
        out_.change = found.claim.change;
        out_.pairs = settings_.pairs;
    }

    AuditedRow run() {
        const Claim& claim = found_.claim;
        stats::PublishedRow row;
        if (!claim.change.empty()) row.change = printed_percent(claim.change);
        // Nor need such an estimate be the ratio of the means.
        if (!claim.low.empty() && found_.made == IntervalMade::otherwise) {
            out_.printed.change = row.change;
            out_.check.reason =
                "an interval by ranks or resampling need not be symmetric about its estimate";
            return std::move(out_);
        }
        if (!claim.low.empty()) {
            row.low = printed_percent(claim.low);
            row.high = printed_percent(claim.high);
        }
        PrintedRow texts{claim.change, claim.low, claim.high, "", ""};
        choose_means(row, texts);
        out_.printed = row;
        out_.check = stats::check_published_row(row, settings_);
        if (out_.check.verdict == Consistency::inconsistent) {
            out_.check.reason = audit_reason(texts, row, out_.check);
        } else if (out_.check.verdict == Consistency::not_checkable && !why_no_means_.empty()) {
            out_.check.reason = why_no_means_;
        }
        return std::move(out_);
    }

  private:
    bool agrees(const stats::PublishedRow& row, const Printed& a, const Printed& b) const {
        stats::PublishedRow means;
        means.change = row.change;
        means.a = a;
        means.b = b;
        return stats::check_published_row(means, settings_).verdict == Consistency::consistent;
    }

    void choose_means(stats::PublishedRow& row, PrintedRow& texts) {
        if (!row.change) return;
        const auto& means = found_.claim.means;
        if (means.size() == 2) {
            if (!same_unit(means[0], means[1])) {
                why_no_means_ = "the two means are in different units";
                return;
            }
            take(row, texts, means[0].number, means[1].number);
        } else if (means.size() > 2) {
            search(row, texts);
        } else if (!found_.claim.pair_a.empty() && !pair_counts_) {
            take_pair(row, texts);
        }
    }

    void take(stats::PublishedRow& row, PrintedRow& texts, const std::string& a,
              const std::string& b) {
        row.a = printed(a);
        row.b = printed(b);
        texts.a = a;
        texts.b = b;
    }

    void search(stats::PublishedRow& row, PrintedRow& texts) {
        const auto& means = found_.claim.means;
        for (std::size_t i = 0; i < std::min(means.size(), kMostMeans); ++i) {
            for (std::size_t j = i + 1; j < std::min(means.size(), kMostMeans); ++j) {
                const auto a = printed(means[i].number);
                const auto b = printed(means[j].number);
                if (!same_unit(means[i], means[j]) || !a || !b || !agrees(row, *a, *b)) continue;
                return take(row, texts, means[i].number, means[j].number);
            }
        }
        why_no_means_ = "of the numbers before the change it is not clear which are the means";
    }

    // One row alone does not tell a count like 9/16 from two means; two that agree are means.
    void take_pair(stats::PublishedRow& row, PrintedRow& texts) {
        const auto a = printed(found_.claim.pair_a);
        const auto b = printed(found_.claim.pair_b);
        if (!a || !b) return;
        const bool named = found_.heading.find("base") != std::string::npos ||
                           found_.heading.find("before") != std::string::npos ||
                           found_.heading.find("old") != std::string::npos;
        if (a->value > b->value || named || agrees(row, *a, *b)) {
            take(row, texts, found_.claim.pair_a, found_.claim.pair_b);
        } else {
            why_no_means_ = "it is not clear whether " + found_.claim.pair_a + "/" +
                            found_.claim.pair_b + " is a count or two means";
        }
    }

    const FoundRow& found_;
    bool pair_counts_;
    stats::PublishedOptions settings_;
    AuditedRow out_;
    std::string why_no_means_;
};

}  // namespace

Audit audit(std::string_view text, const AuditOptions& options) {
    std::vector<FoundRow> rows = mail_tables(text);
    join_intervals(rows);
    const auto counting = counting_paragraphs(rows);
    Audit out;
    out.rows.reserve(rows.size());
    for (const FoundRow& row : rows) {
        const auto pair_counts = counting.find(row.paragraph);
        out.rows.push_back(
            Check(row, options, pair_counts != counting.end() && pair_counts->second).run());
        const Consistency verdict = out.rows.back().check.verdict;
        out.consistent += verdict == Consistency::consistent ? 1U : 0U;
        out.inconsistent += verdict == Consistency::inconsistent ? 1U : 0U;
        out.not_checkable += verdict == Consistency::not_checkable ? 1U : 0U;
    }
    return out;
}

}  // namespace vsb::reports
