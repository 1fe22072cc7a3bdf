// What the reports cost: a comparison's over its trials, a history's over its nights. Bounds: under
// 1 s and 256 MiB at 100,000 trials and at 3,650 nights; linear in rows (BigO).
//   bench_reports --benchmark_min_time=0.1
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "reports/comparison.h"
#include "reports/cover_letter.h"
#include "reports/history.h"
#include "reports/history_csv.h"
#include "reports/history_html.h"
#include "reports/history_json.h"
#include "reports/history_sample.h"
#include "reports/history_text.h"
#include "reports/html.h"
#include "reports/json.h"

namespace vsb::reports {
namespace {

double peak_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::vector<datasets::PairedSeries> trials(std::size_t count) {
    constexpr std::size_t kWorkloads = 24;
    const std::size_t pairs = count / 2 / kWorkloads;
    std::vector<datasets::PairedSeries> all;
    for (std::size_t w = 0; w < kWorkloads; ++w) {
        datasets::PairedSeries series{
            "fixed/" + std::to_string(w) + "K", "throughput", "Gbit/s", true, {}, 0, 0, 0};
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            series.pairs.push_back(
                {static_cast<std::int64_t>(pair) + 1,
                 pair % 2 == 0 ? datasets::PairOrder::ab : datasets::PairOrder::ba,
                 2 * std::exp(sample::scattered(w, 2 * pair, 0.05)),
                 2 * std::exp(sample::scattered(w, 2 * pair + 1, 0.05))});
        }
        all.push_back(std::move(series));
    }
    return all;
}

// Comparison and every text of it, from trials read already.
void report(benchmark::State& state) {
    const auto series = trials(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        HtmlExtras extras;
        extras.series = series;
        const Comparison comparison = compare("bench", series, {});
        benchmark::DoNotOptimize(cover_letter(comparison).size() + json(comparison).size() +
                                 html(comparison, extras).size());
    }
    state.SetComplexityN(state.range(0));
    state.counters["peak_MiB"] = peak_mib();
}

History history_of(const std::vector<datasets::ExperimentRecord>& all,
                   const std::vector<std::vector<datasets::PairedSeries>>& series) {
    HistoryBuilder builder(all, "nightly", {});
    std::size_t night = 0;
    for (const auto* record : builder.chosen())
        builder.add(*record, series[night++]);
    return builder.finish();
}

// Estimates, change points, gate and every text, from pairs read already: eight workloads of 16
// pairs a night, one of which steps twice within the window.
void history(benchmark::State& state) {
    constexpr std::size_t kWorkloads = 8;
    const auto nights = static_cast<std::size_t>(state.range(0));
    std::vector<datasets::ExperimentRecord> all;
    std::vector<std::vector<datasets::PairedSeries>> series(nights);
    for (std::size_t day = 0; day < nights; ++day) {
        auto record = sample::night_record(day);
        const auto workload = record.workloads[0];
        record.workloads.clear();
        for (std::size_t w = 0; w < kWorkloads; ++w) {
            record.workloads.push_back(workload);
            record.workloads.back().name = "fixed/" + std::to_string(w) + "K";
            double level = sample::scattered(w, day, 0.005);
            if (w == 0 && day + 60 >= nights) level -= 0.05;
            if (w == 0 && day + 20 >= nights) level -= 0.05;
            auto pairs = sample::night_series(record, w, level, 0.02);
            auto more = pairs.pairs;
            pairs.pairs.insert(pairs.pairs.end(), more.begin(), more.end());
            series[day].push_back(std::move(pairs));
        }
        all.push_back(std::move(record));
    }
    std::size_t alarms = 0;
    for (auto _ : state) {
        const History result = history_of(all, series);
        alarms = result.alarms.size();
        benchmark::DoNotOptimize(history_text(result).size() + history_json(result).size() +
                                 history_csv(result).size() + history_html(result, {}).size());
    }
    state.SetComplexityN(state.range(0));
    state.counters["peak_MiB"] = peak_mib();
    state.counters["alarms"] = static_cast<double>(alarms);
}

BENCHMARK(report)
    ->Arg(12'500)
    ->Arg(25'000)
    ->Arg(50'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK(history)
    ->Arg(450)
    ->Arg(900)
    ->Arg(1825)
    ->Arg(3650)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace
}  // namespace vsb::reports

BENCHMARK_MAIN();
