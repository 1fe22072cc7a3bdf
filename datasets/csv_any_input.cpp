#include "datasets/csv_any_input.h"

#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "datasets/csv.h"

namespace vsb::datasets {
namespace {

using Read = std::optional<std::vector<PairedSeries>>;

Read read(const std::string& input, bool skip_invalid) {
    std::istringstream in(input);
    CsvOptions options;
    options.skip_invalid = skip_invalid;
    try {
        return read_csv(in, "any", options);
    } catch (const CsvError&) {
        return std::nullopt;
    }
}

std::string fault_of(const std::vector<PairedSeries>& all) {
    std::set<std::pair<std::string, std::string>> names;
    for (const PairedSeries& series : all) {
        if (!names.emplace(series.workload, series.metric).second) return "a series twice";
        std::set<std::int64_t> numbers;
        for (const PairedValue& pair : series.pairs) {
            if (!numbers.insert(pair.pair).second) return "a pair twice";
            for (const double value : {pair.a, pair.b}) {
                if (!std::isfinite(value) || value <= 0) return "a value that makes no ratio";
            }
        }
    }
    return {};
}

}  // namespace

std::string broken_promise(const std::string& input) {
    const Read strict = read(input, false);
    const Read lenient = read(input, true);
    if (strict && !lenient) return "refused only when skipping";
    if (lenient) {
        if (auto fault = fault_of(*lenient); !fault.empty()) return fault;
    }
    if (!strict) return {};
    for (const PairedSeries& series : *strict) {
        if (series.skipped != 0) return "skipped without being told to";
        if (series.pairs.empty()) return "a series of nothing";
    }
    const std::string text = to_csv(*strict);
    if (text != to_csv(*lenient)) return "a good file reads otherwise when skipping";
    const Read again = read(text, false);
    if (!again || to_csv(*again) != text) return "what was written does not read the same";
    return {};
}

}  // namespace vsb::datasets
