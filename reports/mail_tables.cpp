#include "reports/mail_tables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <deque>
#include <span>

namespace vsb::reports {
namespace {

constexpr std::string_view kBlank = " \t\r";
constexpr std::size_t kLongestHeading = 1000;
constexpr int kMostContinuations = 2;

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Without "> > " and blanks at both ends.
std::string_view unquoted(std::string_view line) {
    line = trimmed(line);
    while (line.starts_with('>'))
        line = trimmed(line.substr(1));
    return line;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        // What is too long for a table is as good as a blank line.
        lines.push_back(line.size() > kLongestMailLine ? std::string_view() : unquoted(line));
    }
    return lines;
}

std::size_t intervals(const LineClaims& line) {
    return static_cast<std::size_t>(
        std::ranges::count_if(line.claims, [](const Claim& c) { return !c.low.empty(); }));
}

bool checkable(const Claim& claim) {
    const bool means = claim.means.size() >= 2 || !claim.pair_a.empty();
    return !claim.change.empty() && (!claim.low.empty() || means);
}

// May this line be the rest of a row that began above?
bool may_continue(std::string_view line) {
    return !line.empty() && std::string_view("[(%+-").find(line.front()) != std::string_view::npos;
}

bool unfinished(const LineClaims& line) {
    return line.figures && (line.open || line.claims.empty() || line.claims.back().low.empty());
}

// The change or its interval came to a line that had none; a second change is another row.
bool gained(const LineClaims& longer, const LineClaims& line) {
    if (longer.prose || longer.claims.size() != std::max<std::size_t>(1, line.claims.size())) {
        return false;
    }
    const bool change = line.claims.empty() && !longer.open && !longer.claims[0].change.empty();
    return change || intervals(longer) > intervals(line);
}

std::optional<std::size_t> whole_number(std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// By what is named last.
IntervalMade made_by(std::string_view text) {
    constexpr std::array<std::string_view, 9> kOtherwise{
        "Hodges-Lehmann",  "hodges-lehmann", "bootstrap",   "BCa",        "bca",
        "order-statistic", "; sign,",        "signed-rank", "permutation"};
    constexpr std::array<std::string_view, 5> kMiddle{"crossover", "paired t", "paired-t",
                                                      "normal-approximation", "; normal,"};
    const auto last = [text](const auto& words) {
        std::size_t at = 0;  // one past where it stands
        for (const std::string_view word : words) {
            const auto found = text.rfind(word);
            if (found != std::string_view::npos) at = std::max(at, found + 1);
        }
        return at;
    };
    const std::size_t otherwise = last(kOtherwise);
    const std::size_t middle = last(kMiddle);
    if (otherwise == 0 && middle == 0) return IntervalMade::unsaid;
    return otherwise > middle ? IntervalMade::otherwise : IntervalMade::around_its_middle;
}

// What running text says about the tables below it.
class Said {
  public:
    void line(std::string_view text) {
        if (text.find("normal-approximation") != text.npos ||
            text.find("normal approximation") != text.npos) {
            normal = true;
        }
        while (!text.empty()) {
            text.remove_prefix(std::min(text.find_first_not_of(" \t|*"), text.size()));
            const std::string_view word = text.substr(0, text.find_first_of(" \t|*"));
            text.remove_prefix(word.size());
            if (!word.empty()) add(word);
        }
    }
    void paragraph_ends() { words_.clear(); }

    std::optional<std::size_t> pairs;
    double confidence = 0.95;
    bool normal = false;
    IntervalMade made = IntervalMade::unsaid;

  private:
    void add(std::string_view word) {
        if (word.starts_with("pair")) pairs_said();
        if (word.starts_with("CI") || word.starts_with("confidence")) confidence_said();
        words_.push_back(word);
        if (words_.size() > 4) words_.pop_front();
    }

    // "16 pairs", "16 balanced AB/BA pairs"; in "15 to 16 pairs" rows differ, and "2 of 16 pairs"
    // tells of others.
    void pairs_said() {
        for (std::size_t back = 1; back <= std::min<std::size_t>(3, words_.size()); ++back) {
            const auto n = whole_number(words_[words_.size() - back]);
            if (!n) continue;
            const std::string_view before =
                back < words_.size() ? words_[words_.size() - back - 1] : std::string_view();
            if (before == "to") pairs.reset();
            if (before != "to" && before != "of" && *n >= 2 && *n <= 100'000) pairs = n;
            return;
        }
    }

    void confidence_said() {
        if (words_.empty() || !words_.back().ends_with('%')) return;
        std::string_view number = words_.back();
        number.remove_suffix(1);
        while (!number.empty() && std::isdigit(static_cast<unsigned char>(number.front())) == 0)
            number.remove_prefix(1);
        double value = 0;
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), value);
        const bool read = error == std::errc{} && end == number.data() + number.size();
        if (read && value >= 50 && value < 100) confidence = value / 100;
    }

    std::deque<std::string_view> words_;
};

class Document {
  public:
    explicit Document(std::string_view text) : lines_(lines_of(text)) {}

    std::vector<FoundRow> read() {
        while (at_ < lines_.size())
            line();
        end_of_text();
        for (FoundRow& row : rows_) {
            if (row.made == IntervalMade::unsaid) row.made = first_said_;
        }
        drop_lonely();
        return std::move(rows_);
    }

  private:
    void line() {
        const std::string_view text = lines_[at_];
        if (text.empty()) return blank_line();
        std::size_t used = 1;
        const LineClaims found = with_continuations(text, used);
        const std::size_t first = rows_.size();
        for (const Claim& claim : found.claims) {
            if (!found.prose || checkable(claim)) add(claim);
        }
        const bool lone = found.claims.size() == 1 && rows_.size() == first + 1;
        if (lone) stacked(rows_.back().claim, text);
        last_ = found.claims.empty() ? found.rest : Claim{};
        last_text_ = text;
        if (rows_.size() == first) prose(text);
        at_ += used;
    }

    void blank_line() {
        end_of_text();
        said_.paragraph_ends();
        ++paragraph_;
        last_ = {};
        ++at_;
    }

    // The line, and those below that finish its row.
    LineClaims with_continuations(std::string_view text, std::size_t& used) const {
        LineClaims found = line_claims(text);
        std::string joined(text);
        LineClaims longer = found;
        for (int more = 1; more <= kMostContinuations && unfinished(longer); ++more) {
            const std::size_t next = at_ + static_cast<std::size_t>(more);
            if (next >= lines_.size() || lines_[next].empty()) break;
            if (!longer.open && !may_continue(lines_[next])) break;
            joined += " ";
            joined += lines_[next];
            if (joined.size() > kLongestMailLine) break;
            longer = line_claims(joined);
            if (!gained(longer, found)) continue;
            found = longer;
            used = static_cast<std::size_t>(more) + 1;
        }
        return found;
    }

    // "Before: 245.2 MB/s" and below it "After: 509.2 MB/s (+107%)".
    void stacked(Claim& claim, std::string_view text) const {
        const bool alike = last_.means.size() == 1 && claim.means.size() == 1 &&
                           last_.pair_a.empty() && claim.low.empty();
        if (!alike || last_text_.find(':') == last_text_.npos || text.find(':') == text.npos) {
            return;
        }
        claim.means.insert(claim.means.begin(), last_.means.front());
    }

    void add(const Claim& claim) {
        // The text above belongs to this table now.
        if (!text_.empty()) end_of_text_above_a_row();
        FoundRow row;
        row.claim = claim;
        row.line = at_ + 1;
        row.paragraph = paragraph_;
        row.caption = caption_;
        row.heading = heading_;
        row.pairs = said_.pairs;
        row.confidence = said_.confidence;
        row.normal = said_.normal;
        const IntervalMade by_heading = made_by(heading_);
        row.made = by_heading == IntervalMade::unsaid ? said_.made : by_heading;
        rows_.push_back(std::move(row));
    }

    void prose(std::string_view text) {
        if (text.starts_with('#')) {
            caption_ = trimmed(text.substr(std::min(text.find_first_not_of('#'), text.size())))
                           .substr(0, kLongestCaption);
            heading_.clear();
        } else {
            text_.push_back(text);
        }
        said_.line(text);
    }

    static std::string joined(std::span<const std::string_view> lines, std::size_t longest) {
        std::string out;
        for (const std::string_view line : lines) {
            if (out.size() >= longest) break;
            if (!out.empty()) out += ' ';
            out += line;
        }
        return out.substr(0, longest);
    }

    void end_of_text() {
        if (text_.empty()) return;
        const std::span<const std::string_view> lines(text_);
        for (const std::string_view line : lines)
            method_said(made_by(line));
        if (text_.back().ends_with(':')) {
            caption_ = joined(lines, kLongestCaption);
            heading_.clear();
        }
        text_.clear();
    }

    // A report in Markdown tells its method below its tables.
    void method_said(IntervalMade made) {
        if (made == IntervalMade::unsaid) return;
        said_.made = made;
        if (first_said_ == IntervalMade::unsaid) first_said_ = made;
    }

    // Caption lines and headings may stand in one paragraph.
    void end_of_text_above_a_row() {
        const auto last_colon = std::find_if(text_.rbegin(), text_.rend(), [](std::string_view l) {
                                    return l.ends_with(':');
                                }).base();
        const auto split = static_cast<std::size_t>(last_colon - text_.begin());
        const std::span<const std::string_view> lines(text_);
        if (split > 0) caption_ = joined(lines.first(split), kLongestCaption);
        heading_ = joined(lines.subspan(split), kLongestHeading);
        text_.clear();
    }

    // A change alone in running text claims nothing that could be checked.
    void drop_lonely() {
        std::vector<std::size_t> count(paragraph_ + 1, 0);
        for (const FoundRow& row : rows_)
            ++count[row.paragraph];
        std::erase_if(rows_, [&](const FoundRow& row) {
            return !checkable(row.claim) && count[row.paragraph] < 2;
        });
    }

    std::vector<std::string_view> lines_;
    std::size_t at_ = 0;
    std::size_t paragraph_ = 0;
    std::vector<std::string_view> text_;  // of this paragraph, so far without a row
    std::string caption_;
    std::string heading_;
    Claim last_;  // of the line before, when it had no change
    std::string_view last_text_;
    Said said_;
    IntervalMade first_said_ = IntervalMade::unsaid;
    std::vector<FoundRow> rows_;
};

}  // namespace

std::vector<FoundRow> mail_tables(std::string_view text) {
    return Document(text).read();
}

}  // namespace vsb::reports
