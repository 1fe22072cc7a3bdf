#include <array>

#include "datasets/csv_fields.h"
#include "datasets/foreign_json.h"
#include "datasets/google_benchmark.h"
#include "datasets/import_error.h"
#include "datasets/utc.h"

namespace vsb::datasets {
namespace {

// What is in an entry and is no counter of the user's.
constexpr std::array<std::string_view, 20> kKnown = {"name",
                                                     "run_name",
                                                     "run_type",
                                                     "family_index",
                                                     "per_family_instance_index",
                                                     "repetitions",
                                                     "repetition_index",
                                                     "threads",
                                                     "iterations",
                                                     "real_time",
                                                     "cpu_time",
                                                     "time_unit",
                                                     "label",
                                                     "bytes_per_second",
                                                     "items_per_second",
                                                     "error_occurred",
                                                     "error_message",
                                                     "skipped",
                                                     "skip_message",
                                                     "aggregate_unit"};

double to_ns(const JsonValue& unit) {
    const std::string text = unit.text();
    if (text == "ns") return 1;
    if (text == "us") return 1e3;
    if (text == "ms") return 1e6;
    if (text == "s") return 1e9;
    unit.fail(in_quotes(text) + " is none of ns, us, ms and s");
}

bool is_known(const std::string& key) {
    for (const std::string_view known : kKnown) {
        if (key == known) return true;
    }
    return false;
}

void refuse_failure(const JsonValue& entry) {
    const auto failed = entry.find("error_occurred");
    if (failed && failed->boolean()) failed->fail("this benchmark reports an error");
    if (const auto skipped = entry.find("skipped")) skipped->fail("this benchmark was skipped");
}

ForeignRun run_of(const JsonValue& entry) {
    ForeignRun run;
    run.workload.name = entry.at("name").text();
    run.workload.kind = "benchmark";
    const double scale = to_ns(entry.at("time_unit"));
    const auto finite = [&](const JsonValue& value, double number) {
        if (!(number < 1e300)) value.fail("it is too large");
        return number;
    };
    const JsonValue real = entry.at("real_time");
    const JsonValue cpu = entry.at("cpu_time");
    run.measurements = {{"real_time", "ns", finite(real, real.positive() * scale)},
                        {"cpu_time", "ns", finite(cpu, cpu.not_negative() * scale)}};
    if (const auto rate = entry.find("bytes_per_second")) {
        run.measurements.push_back({"bytes_per_second", "B/s", rate->not_negative()});
    }
    if (const auto rate = entry.find("items_per_second")) {
        run.measurements.push_back({"items_per_second", "items/s", rate->not_negative()});
    }
    for (const auto& [key, value] : entry.members()) {
        if (is_known(key)) continue;
        if (!value.is_number()) value.fail("it is no number");
        if (key.empty() || key.size() > 256 || text_fault(key)) {
            value.fail("its name is no counter's");
        }
        run.measurements.push_back({key, "1", value.not_negative()});
    }
    return run;
}

}  // namespace

ForeignFile read_google_benchmark(std::string_view text, const std::string& name) {
    const JsonDocument document(text, name);
    ForeignFile file;
    file.format = "google-benchmark";
    std::string started;
    const JsonValue context = document.root().at("context");
    // Before 1.5 the date had no zone: then nothing is known of the order.
    if (const auto date = context.find("date")) {
        started = utc_of(date->text()).value_or("");
    }
    for (const char* key : {"host_name", "library_build_type"}) {
        const auto value = context.find(key);
        if (value) file.environment[std::string("google-benchmark.") + key] = value->text();
    }
    const JsonValue benchmarks = document.root().at("benchmarks");
    for (const JsonValue& entry : benchmarks.items()) {
        const auto type = entry.find("run_type");
        if (type && type->text() == "aggregate") continue;
        refuse_failure(entry);
        file.runs.push_back(run_of(entry));
        file.runs.back().started = started;
        if (file.runs.size() > ForeignCaps::kRuns) entry.fail("there are too many runs");
    }
    if (file.runs.empty()) {
        benchmarks.fail(
            "there is no single run (aggregates alone cannot be compared: leave out "
            "--benchmark_report_aggregates_only)");
    }
    return file;
}

}  // namespace vsb::datasets
