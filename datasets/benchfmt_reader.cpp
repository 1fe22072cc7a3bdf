#include <map>
#include <sstream>

#include "datasets/benchfmt.h"
#include "datasets/csv_fields.h"
#include "datasets/decimal.h"
#include "datasets/import_error.h"

namespace vsb::datasets {
namespace {

constexpr std::string_view kPrefix = "Benchmark";

struct Field {
    std::string_view text;
    std::size_t column = 0;  // from 1
};

std::vector<Field> fields_of(std::string_view line) {
    constexpr std::string_view kBlank = " \t\v\f\r";
    std::vector<Field> fields;
    std::size_t at = line.find_first_not_of(kBlank);
    while (at != std::string_view::npos) {
        const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
        fields.push_back({line.substr(at, end - at), at + 1});
        at = line.find_first_not_of(kBlank, end);
    }
    return fields;
}

class Reader {
  public:
    explicit Reader(const std::string& name) : name_(name) { file_.format = "benchfmt"; }

    void take(std::string_view line, std::uint64_t number) {
        number_ = number;
        if (!line.starts_with(kPrefix) && !line.starts_with("Unit")) return take_key(line);
        // A tab parts fields there, and is no fault in the text.
        const std::vector<Field> fields = fields_of(line);
        for (const Field& field : fields) {
            if (const auto why = text_fault(field.text)) fail(field.column, *why);
        }
        if (line.starts_with(kPrefix)) return take_benchmark(fields);
        if (fields.front().text == "Unit") take_unit(fields);
    }

    ForeignFile finish() {
        if (file_.runs.empty()) fail(1, "there is no line of a benchmark");
        for (const ForeignRun& run : file_.runs) {
            for (const Measurement& each : run.measurements)
                check_direction(each.unit);
        }
        return std::move(file_);
    }

  private:
    struct Better {
        bool higher = false;
        std::uint64_t line = 0;
    };

    [[noreturn]] void fail(std::size_t column, const std::string& why) const {
        fail_at(name_, number_, std::to_string(column), why);
    }

    void take_benchmark(const std::vector<Field>& fields) {
        // `go test -v` names a benchmark on a line of its own before it runs.
        if (fields.size() == 1) return;
        ForeignRun run;
        run.workload.name = fields[0].text.substr(kPrefix.size());
        run.workload.kind = "benchmark";
        if (run.workload.name.empty()) fail(1, "the benchmark has no name");
        const auto iterations = whole_number(fields[1].text);
        if (!iterations || *iterations < 1) {
            fail(fields[1].column, in_quotes(fields[1].text) + " is no number of iterations");
        }
        if (fields.size() == 2) fail(fields[1].column, "there is no measurement behind it");
        for (std::size_t i = 2; i < fields.size(); i += 2) {
            const auto value = finite_decimal(fields[i].text);
            if (!value || *value < 0) {
                fail(fields[i].column, in_quotes(fields[i].text) + " is no number from 0");
            }
            if (i == 2 && !(*value > 0)) {
                fail(fields[i].column, "it is not above zero: nothing was measured");
            }
            if (i + 1 == fields.size()) fail(fields[i].column, "there is no unit behind it");
            const std::string unit(fields[i + 1].text);
            for (const Measurement& each : run.measurements) {
                if (each.metric == unit) fail(fields[i + 1].column, "the unit is there twice");
            }
            run.measurements.push_back({unit, unit, *value});
        }
        if (file_.runs.size() == ForeignCaps::kRuns) fail(1, "there are too many runs");
        file_.runs.push_back(std::move(run));
    }

    void take_unit(const std::vector<Field>& fields) {
        if (fields.size() < 2) fail(1, "the line names no unit");
        for (std::size_t i = 2; i < fields.size(); ++i) {
            if (!fields[i].text.starts_with("better=")) continue;
            const std::string_view which = fields[i].text.substr(sizeof("better=") - 1);
            if (which != "higher" && which != "lower") {
                fail(fields[i].column, in_quotes(which) + " is neither higher nor lower");
            }
            better_[std::string(fields[1].text)] = {which == "higher", number_};
        }
    }

    // "goos: linux": of the machine, kept where it holds for the whole file.
    void take_key(std::string_view line) {
        const std::size_t colon = line.find(": ");
        constexpr std::size_t kLongest = 256;
        if (colon == std::string_view::npos || colon == 0 || line.size() > kLongest) return;
        for (const char c : line.substr(0, colon)) {
            if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')) return;
        }
        if (text_fault(line)) return;
        const auto key = "benchfmt." + std::string(line.substr(0, colon));
        const auto [known, is_new] = file_.environment.try_emplace(key, line.substr(colon + 2));
        if (!is_new && known->second != line.substr(colon + 2)) known->second.clear();
        constexpr std::size_t kMostKeys = 1000;
        if (file_.environment.size() > kMostKeys) fail(1, "there are too many keys");
    }

    void check_direction(const std::string& unit) {
        const auto said = better_.find(unit);
        if (said == better_.end() || said->second.higher == higher_is_better(unit, unit)) return;
        number_ = said->second.line;
        fail(1, std::string("the line says that ") + (said->second.higher ? "higher" : "lower") +
                    " is better of " + in_quotes(unit) +
                    ", and this store tells from the unit that it is not (only units that end in "
                    "/s, pps, bps or Hz are rates)");
    }

    std::string name_;
    std::uint64_t number_ = 1;
    std::map<std::string, Better> better_;
    ForeignFile file_;
};

}  // namespace

ForeignFile read_benchfmt(std::string_view text, const std::string& name) {
    std::istringstream in{std::string(text)};
    CsvLines lines(in, name,
                   {ForeignCaps::kBytes, ForeignCaps::kLines, ForeignCaps::kLineBytes, 0});
    Reader reader(name);
    std::string line;
    while (lines.next(line))
        reader.take(line, lines.number());
    ForeignFile file = reader.finish();
    std::erase_if(file.environment, [](const auto& entry) { return entry.second.empty(); });
    return file;
}

}  // namespace vsb::datasets
