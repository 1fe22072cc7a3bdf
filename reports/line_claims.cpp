#include "reports/line_claims.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "reports/table_cells.h"

namespace vsb::reports {
namespace {

bool is_signed(const FoundCell& cell) {
    return cell.text.starts_with('+') || cell.text.starts_with('-');
}

// "64B", "4KiB": a payload rather than a result.
bool is_size(const FoundCell& cell) {
    static constexpr std::array<std::string_view, 11> kUnits{"B",  "K",  "M",   "G",   "k",  "KB",
                                                             "MB", "GB", "KiB", "MiB", "GiB"};
    return cell.kind == CellKind::number && cell.text.find('.') == std::string::npos &&
           std::ranges::find(kUnits, cell.unit) != kUnits.end();
}

bool is_spread(const FoundCell& cell) {
    return cell.text == "\xc2\xb1" || cell.text == "+-" || cell.text == "+/-";
}

// "8+8" -> 16, the pairs of both orders; else 0.
std::size_t pairs_of(const std::string& word) {
    std::size_t ab = 0;
    std::size_t ba = 0;
    const char* const end = word.data() + word.size();
    const auto first = std::from_chars(word.data(), end, ab);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '+') return 0;
    const auto second = std::from_chars(first.ptr + 1, end, ba);
    const bool read = second.ec == std::errc{} && second.ptr == end;
    return read && ab < 100'000 && ba < 100'000 ? ab + ba : 0;
}

std::string spelled(const FoundCell& cell) {
    return cell.kind == CellKind::pair       ? cell.text + "/" + cell.high
           : cell.kind == CellKind::aside    ? "(" + cell.text + ")"
           : cell.kind == CellKind::interval ? cell.text + " to " + cell.high
                                             : cell.text + cell.unit;
}

class Line {
  public:
    explicit Line(const std::vector<FoundCell>& cells) : cells_(cells) {}

    LineClaims read() {
        if (!label()) return {};
        while (at_ < cells_.size())
            cell();
        out_.rest = std::move(claim_);
        return std::move(out_);
    }

  private:
    const FoundCell* next() const { return at_ < cells_.size() ? &cells_[at_] : nullptr; }

    // The first cell whatever it is, and the words and the payload's size behind it.
    bool label() {
        if (next() != nullptr && next()->kind == CellKind::dash) ++at_;  // a bullet
        const FoundCell* const first = next();
        if (first == nullptr || first->kind == CellKind::percent ||
            first->kind == CellKind::interval || first->kind == CellKind::aside) {
            return false;
        }
        claim_.label = spelled(*first);
        ++at_;
        for (; next() != nullptr; ++at_) {
            const bool named = first->kind == CellKind::word && is_size(*next());
            if (next()->kind != CellKind::word && next()->kind != CellKind::unit && !named &&
                next()->kind != CellKind::aside) {
                break;
            }
            claim_.label += " " + spelled(*next());
        }
        return true;
    }

    void cell() {
        const FoundCell& here = cells_[at_++];
        out_.figures = out_.figures || here.kind == CellKind::number ||
                       here.kind == CellKind::percent || here.kind == CellKind::pair;
        switch (here.kind) {
            case CellKind::number:
                number(here);
                break;
            case CellKind::unit:
                if (!claim_.means.empty()) claim_.means.back().unit = here.text;
                break;
            case CellKind::pair:
                claim_.pair_a = here.text;
                claim_.pair_b = here.high;
                break;
            case CellKind::percent:
                percent(here);
                break;
            case CellKind::interval:
                claim_.low = here.text;
                claim_.high = here.high;
                finish();
                break;
            case CellKind::dash:
                claim_.means.clear();
                break;
            case CellKind::word:
                word(here);
                break;
            case CellKind::arrow:
            case CellKind::aside:
                break;
        }
    }

    void number(const FoundCell& here) {
        // Rows that a mail program ran together: the next one's label stands behind a change.
        const bool two_follow = at_ + 1 < cells_.size() && cells_[at_].kind == CellKind::number &&
                                cells_[at_ + 1].kind == CellKind::number;
        if (!out_.claims.empty() && claim_.means.empty() && is_size(here) && two_follow) {
            claim_.label = spelled(here);
        } else if (is_signed(here)) {
            claim_.means.clear();
        } else {
            claim_.means.push_back({here.text, here.unit});
        }
    }

    void percent(const FoundCell& here) {
        const bool interval_follows = next() != nullptr && next()->kind == CellKind::interval;
        if (!is_signed(here) && !interval_follows) {
            claim_.means.push_back({here.text, "%"});
            return;
        }
        claim_.change = here.text;
        if (interval_follows) {
            claim_.low = next()->text;
            claim_.high = next()->high;
            ++at_;
        }
        finish();
    }

    void word(const FoundCell& here) {
        if (here.text == "to") return;  // "from 0.1290 to 0.2489"
        if (is_spread(here)) {
            if (next() != nullptr) ++at_;
            return;
        }
        if (out_.claims.empty()) {
            out_.prose = true;
        } else if (const std::size_t pairs = pairs_of(here.text)) {
            out_.claims.back().pairs = pairs;
        }
        claim_.means.clear();
    }

    void finish() {
        const std::string label = claim_.label;
        out_.claims.push_back(std::move(claim_));
        claim_ = {};
        claim_.label = label;
    }

    const std::vector<FoundCell>& cells_;
    std::size_t at_ = 0;
    Claim claim_;
    LineClaims out_;
};

}  // namespace

LineClaims line_claims(std::string_view line) {
    const FoundCells found = table_cells(line);
    LineClaims claims = Line(found.cells).read();
    claims.open = found.open;
    return claims;
}

}  // namespace vsb::reports
