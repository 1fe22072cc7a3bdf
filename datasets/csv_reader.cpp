#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "datasets/csv.h"
#include "datasets/csv_fields.h"
#include "datasets/direction.h"

namespace vsb::datasets {
namespace {

enum Column : std::size_t { kWorkload, kPair, kOrder, kState, kValue, kMetric, kUnit, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"workload", "pair",   "order", "state",
                                                           "value",    "metric", "unit"};
constexpr std::size_t kRequired = kMetric;  // the columns before it
constexpr std::string_view kNeeds = "workload,pair,order,state,value";

// What is wrong with a row, and in which column. Not an exception: bad rows may be many.
struct Fault {
    std::string column;
    std::string why;
};

struct Row {
    std::uint64_t line = 0;
    std::array<std::string, kColumns> text;  // empty where the row or the file has none
    std::optional<std::int64_t> pair;
    PairOrder order = PairOrder::ab;
    bool is_a = true;
    double value = 0;
    bool named = false;  // it says which pair of which series it belongs to
    std::optional<Fault> fault;
};

class Header {
  public:
    Header(const CsvLine& line, const std::string& name, std::uint64_t number) {
        const auto fail = [&](std::string_view column, const std::string& why) {
            throw CsvError(name + ":" + std::to_string(number) + ": column " + std::string(column) +
                           ": " + why);
        };
        if (!line.why.empty()) fail(std::to_string(line.bad_field + 1), line.why);
        for (const std::string& field : line.fields) {
            std::size_t column = 0;
            while (column < kColumns && kNames.at(column) != field)
                ++column;
            if (column == kColumns) {
                fail(std::to_string(order_.size() + 1),
                     "there is no column " + in_quotes(field) + " (columns are " +
                         std::string(kNeeds) +
                         " and, where wanted, metric and unit, with commas "
                         "between them)");
            }
            if (has_.at(column)) fail(field, "the header names it twice");
            has_.at(column) = true;
            order_.push_back(column);
        }
        for (std::size_t column = 0; column < kRequired; ++column) {
            if (has_.at(column)) continue;
            fail(kNames.at(column), "the header lacks it (needed are " + std::string(kNeeds) + ")");
        }
    }

    // Fields to their columns, as far as there are any.
    Row row(CsvLine line, std::uint64_t number) const {
        Row row;
        row.line = number;
        const std::size_t count = std::min(line.fields.size(), order_.size());
        for (std::size_t i = 0; i < count; ++i) {
            row.text.at(order_[i]) = std::move(line.fields[i]);
        }
        const auto given = std::span(order_).first(count);
        const auto has = [&](Column column) { return std::ranges::count(given, column) > 0; };
        row.named = has(kWorkload) && has(kPair) && (has(kMetric) || !has_[kMetric]);
        if (!line.why.empty()) {
            row.fault = Fault{name_of(line.bad_field), std::move(line.why)};
        } else if (line.fields.size() > order_.size()) {
            row.fault =
                Fault{std::to_string(order_.size() + 1), "the row has more fields than the header"};
        } else if (line.fields.size() < order_.size()) {
            row.fault = Fault{name_of(line.fields.size()), "the row ends before it"};
        }
        return row;
    }

  private:
    std::string name_of(std::size_t field) const {
        return field < order_.size() ? std::string(kNames.at(order_[field]))
                                     : std::to_string(field + 1);
    }
    std::vector<std::size_t> order_;
    std::array<bool, kColumns> has_{};
};

void blame(Row& row, Column column, const std::string& why) {
    if (!row.fault) row.fault = Fault{std::string(kNames.at(column)), why};
}

void parse_pair(Row& row) {
    const std::string& text = row.text[kPair];
    if (text.empty() && row.fault) return;
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && stop == end && number >= 0) {
        row.pair = number;
    } else {
        blame(row, kPair, in_quotes(text) + " is no pair number (a whole number from 0)");
    }
}

void parse_value(Row& row) {
    const std::string& text = row.text[kValue];
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, row.value);
    if (text.empty() || stop != end || error == std::errc::invalid_argument) {
        blame(row, kValue, in_quotes(text) + " is not a number");
    } else if (error == std::errc::result_out_of_range || !std::isfinite(row.value)) {
        blame(row, kValue, in_quotes(text) + " is not a finite number that a double can hold");
    } else if (row.value <= 0) {
        blame(row, kValue, in_quotes(text) + " is not above zero (a change is a ratio)");
    }
}

// One ' less where it only keeps a spreadsheet from running the text.
void unguard(std::string& text) {
    const std::size_t first = text.find_first_not_of('\'');
    if (first == 0 || first == std::string::npos) return;
    if (std::string_view("=+-@").find(text[first]) != std::string_view::npos) text.erase(0, 1);
}

void parse(Row& row) {
    for (const Column column : {kWorkload, kMetric, kUnit}) {
        if (const auto why = text_fault(row.text.at(column))) {
            blame(row, column, *why);
            row.named = false;
        }
        unguard(row.text.at(column));
    }
    if (row.text[kWorkload].empty()) blame(row, kWorkload, "it is empty");
    parse_pair(row);
    row.named = row.named && row.pair && !row.text[kWorkload].empty();
    if (row.fault) return;
    row.order = row.text[kOrder] == "BA" ? PairOrder::ba : PairOrder::ab;
    if (row.text[kOrder] != "AB" && row.text[kOrder] != "BA") {
        blame(row, kOrder, in_quotes(row.text[kOrder]) + " is neither AB nor BA");
    }
    row.is_a = row.text[kState] == "A";
    if (row.text[kState] != "A" && row.text[kState] != "B") {
        blame(row, kState, in_quotes(row.text[kState]) + " is neither A nor B");
    }
    parse_value(row);
}

struct Run {
    std::uint64_t line = 0;
    double value = 0;
};

struct Slot {
    std::int64_t pair = 0;
    PairOrder order = PairOrder::ab;
    std::optional<Run> a;
    std::optional<Run> b;
    std::uint64_t first_line = 0;
    bool bad = false;
};

struct Series {
    PairedSeries result;
    std::uint64_t unit_line = 0;  // where the unit was first given; 0: by no good row yet
    std::vector<Slot> slots;
    std::unordered_map<std::int64_t, std::size_t> by_pair;
};

class Collector {
  public:
    Collector(std::string name, const CsvOptions& options)
        : name_(std::move(name)), options_(options) {}

    void take(Row row) {
        ++rows_;
        // A bad row under skip_invalid spoils the pair it names, if it names one.
        Series* series = row.named ? &series_of(row) : nullptr;
        Slot* slot = row.named ? &slot_of(*series, row) : nullptr;
        if (!row.fault) join(row, *series, *slot);
        if (!row.fault) return;
        if (!options_.skip_invalid) fail(row.line, row.fault->column, row.fault->why);
        if (slot != nullptr) slot->bad = true;
    }

    std::vector<PairedSeries> finish(std::uint64_t last_line) {
        if (rows_ == 0) fail(last_line, "1", "there are no rows below the header");
        if (!options_.skip_invalid) refuse_unpaired();
        std::vector<PairedSeries> all;
        all.reserve(series_.size());
        for (Series& series : series_) {
            PairedSeries& result = series.result;
            for (const Slot& slot : series.slots) {
                if (slot.bad || !slot.a || !slot.b) {
                    ++result.skipped;
                } else {
                    result.pairs.push_back({slot.pair, slot.order, slot.a->value, slot.b->value});
                }
            }
            result.higher_is_better = says_higher_is_better(result.metric, result.unit)
                                          .value_or(!options_.lower_is_better);
            all.push_back(std::move(result));
        }
        return all;
    }

  private:
    [[noreturn]] void fail(std::uint64_t line, const std::string& column,
                           const std::string& why) const {
        throw CsvError(name_ + ":" + std::to_string(line) + ": column " + column + ": " + why);
    }

    Series& series_of(const Row& row) {
        // No control character is in a name that is kept, so this cannot be ambiguous.
        std::string key = row.text[kWorkload] + '\n' + row.text[kMetric];
        const auto [at, is_new] = by_name_.try_emplace(std::move(key), series_.size());
        if (is_new) {
            series_.emplace_back();
            series_.back().result.workload = row.text[kWorkload];
            series_.back().result.metric = row.text[kMetric];
        }
        return series_[at->second];
    }

    static Slot& slot_of(Series& series, const Row& row) {
        const auto [at, is_new] = series.by_pair.try_emplace(*row.pair, series.slots.size());
        if (is_new) {
            series.slots.emplace_back();
            series.slots.back().pair = *row.pair;
            series.slots.back().order = row.order;
            series.slots.back().first_line = row.line;
        }
        return series.slots[at->second];
    }

    // A well-formed row into its pair, or the fault that it does not fit there.
    static void join(Row& row, Series& series, Slot& slot) {
        std::optional<Run>& mine = row.is_a ? slot.a : slot.b;
        const std::optional<Run>& other = row.is_a ? slot.b : slot.a;
        if (series.unit_line != 0 && series.result.unit != row.text[kUnit]) {
            blame(row, kUnit,
                  in_quotes(row.text[kUnit]) + " differs from " + in_quotes(series.result.unit) +
                      " on line " + std::to_string(series.unit_line) +
                      " of the same workload and metric");
        }
        if (mine) {
            blame(row, kState,
                  "pair " + std::to_string(slot.pair) +
                      " has a run of this state already, on line " + std::to_string(mine->line));
        }
        if (other && slot.order != row.order) {
            blame(row, kOrder,
                  "it differs from line " + std::to_string(other->line) + " of the same pair");
        }
        if (row.fault) return;
        if (series.unit_line == 0) {
            series.unit_line = row.line;
            series.result.unit = row.text[kUnit];
        }
        slot.order = row.order;
        mine = Run{row.line, row.value};
    }

    void refuse_unpaired() const {
        const Slot* first = nullptr;
        const Series* of = nullptr;
        for (const Series& series : series_) {
            for (const Slot& slot : series.slots) {
                if (slot.a && slot.b) continue;
                if (first != nullptr && first->first_line <= slot.first_line) continue;
                first = &slot;
                of = &series;
            }
        }
        if (first == nullptr) return;
        fail(first->first_line, "state",
             "pair " + std::to_string(first->pair) + " of " + in_quotes(of->result.workload) +
                 " has no run of state " + (first->a ? "B" : "A"));
    }

    std::string name_;
    CsvOptions options_;
    std::size_t rows_ = 0;
    std::vector<Series> series_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace

std::vector<PairedSeries> read_csv(std::istream& in, const std::string& name,
                                   const CsvOptions& options) {
    CsvLines lines(in, name, options.caps);
    std::string line;
    std::optional<Header> header;
    Collector collector(name, options);
    while (lines.next(line)) {
        if (line.empty()) continue;
        CsvLine fields = split_csv_line(line, options.caps.field_bytes);
        if (!header) {
            header.emplace(fields, name, lines.number());
            continue;
        }
        Row row = header->row(std::move(fields), lines.number());
        parse(row);
        collector.take(std::move(row));
    }
    if (!header) {
        throw CsvError(name + ":1: column workload: the file is empty (needed is a header " +
                       std::string(kNeeds) + ")");
    }
    return collector.finish(lines.number());
}

}  // namespace vsb::datasets
