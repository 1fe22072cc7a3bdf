#include "reports/history_sample.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>

namespace vsb::reports::sample {

datasets::ExperimentRecord night_record(std::size_t day) {
    const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::year{2026} / 9 / 1} +
                                           std::chrono::days{static_cast<int>(day)}};
    datasets::ExperimentRecord record;
    record.id = static_cast<datasets::Id>(day) + 1;
    record.name = "nightly";
    record.target = "engine";
    record.started =
        fmt::format("{:04}-{:02}-{:02}T02:00:00.000Z", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    record.finished = record.started;
    record.status = datasets::ExperimentStatus::finished;
    record.project_commit = fmt::format("c{}", day);
    record.states = {{1, "A", "policy=per-packet"}, {2, "B", "policy=deferred-notify"}};
    record.workloads = {{1, "fixed/64B", "fixed", 64, 65536, 1000},
                        {2, "rtt/4K", "rtt", 4096, 0, 100}};
    return record;
}

datasets::PairedSeries night_series(const datasets::ExperimentRecord& record, std::size_t workload,
                                    double level, double spread) {
    constexpr double kPattern[] = {1, 1, -1, -1, 1, 1, -1, -1};  // AB, BA, AB, ...
    datasets::PairedSeries series;
    series.workload = record.workloads[workload].name;
    const bool rtt = record.workloads[workload].kind == "rtt";
    series.metric = rtt ? "rtt_mean" : "throughput";
    series.unit = rtt ? "us" : "Gbit/s";
    series.higher_is_better = !rtt;
    for (std::size_t i = 0; i < std::size(kPattern); ++i) {
        series.pairs.push_back({static_cast<std::int64_t>(i) + 1,
                                i % 2 == 0 ? datasets::PairOrder::ab : datasets::PairOrder::ba, 2,
                                2 * std::exp(level + spread * kPattern[i])});
    }
    return series;
}

History nights(std::size_t days, const std::function<double(std::size_t, std::size_t)>& level,
               double se, const HistoryOptions& options) {
    std::vector<datasets::ExperimentRecord> all;
    for (std::size_t day = 0; day < days; ++day)
        all.push_back(night_record(day));
    HistoryBuilder builder(all, "nightly", options);
    for (const auto* record : builder.chosen()) {
        const auto day = static_cast<std::size_t>(record->id) - 1;
        builder.add(*record, std::vector{night_series(*record, 0, level(0, day), se / kPatternSe),
                                         night_series(*record, 1, level(1, day), se / kPatternSe)});
    }
    return builder.finish();
}

double scattered(std::size_t workload, std::size_t day, double se) {
    // The sum of twelve uniforms less six, from a multiplicative congruential sequence.
    std::uint64_t state = (day + 1) * 2654435761U + workload * 40503U + 12345U;
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        sum += static_cast<double>(state >> 40) / static_cast<double>(1U << 24);
    }
    return se * sum;
}

}  // namespace vsb::reports::sample
