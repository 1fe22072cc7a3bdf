// How fast the store takes trials (against the same inserts in a bare sqlite3 loop), gives pairs,
// and how fast CSV is read.

#include <benchmark/benchmark.h>

#include <chrono>
#include <sstream>

#include "datasets/csv.h"
#include "datasets/migrations.h"
#include "datasets/store_fixture.h"

namespace vsb::datasets {
namespace {

// The floor: the same rows by the C interface, prepared once, one synced transaction a trial.
class BareLoop {
  public:
    explicit BareLoop(const std::filesystem::path& file) {
        { Store::open(file, OpenMode::read_write).create(small_experiment()); }
        sqlite3_open(file.c_str(), &database_);
        run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
        sqlite3_prepare_v2(
            database_,
            "INSERT INTO trial (experiment_id, workload_id, state_id, pair, pair_order, "
            "position, attempt, status, reason, started, wall_time_ns) VALUES (1, 1, ?, "
            "?, 'AB', ?, 1, 'ok', '', '2026-11-30T16:00:00Z', 50000000)",
            -1, &trial_, nullptr);
        sqlite3_prepare_v2(database_, "INSERT INTO measurement VALUES (?, ?, ?, ?, ?)", -1,
                           &measurement_, nullptr);
    }
    ~BareLoop() {
        sqlite3_finalize(trial_);
        sqlite3_finalize(measurement_);
        sqlite3_close(database_);
    }
    BareLoop(const BareLoop&) = delete;
    BareLoop& operator=(const BareLoop&) = delete;

    void add(sqlite3_int64 number) {
        const int half = number % 2 == 1 ? 1 : 2;
        run("BEGIN IMMEDIATE");
        sqlite3_bind_int(trial_, 1, half);
        sqlite3_bind_int64(trial_, 2, (number + 1) / 2);
        sqlite3_bind_int(trial_, 3, half);
        sqlite3_step(trial_);
        sqlite3_reset(trial_);
        const sqlite3_int64 id = sqlite3_last_insert_rowid(database_);
        measure(id, 1, "throughput", "Gbit/s", 1.5);
        measure(id, 2, "recv_calls", "1", 1048577);
        run("COMMIT");
    }

  private:
    void run(const char* sql) { sqlite3_exec(database_, sql, nullptr, nullptr, nullptr); }

    void measure(sqlite3_int64 id, int ordinal, const char* metric, const char* unit,
                 double value) {
        sqlite3_bind_int64(measurement_, 1, id);
        sqlite3_bind_int(measurement_, 2, ordinal);
        sqlite3_bind_text(measurement_, 3, metric, -1, SQLITE_STATIC);
        sqlite3_bind_text(measurement_, 4, unit, -1, SQLITE_STATIC);
        sqlite3_bind_double(measurement_, 5, value);
        sqlite3_step(measurement_);
        sqlite3_reset(measurement_);
    }

    sqlite3* database_ = nullptr;
    sqlite3_stmt* trial_ = nullptr;
    sqlite3_stmt* measurement_ = nullptr;
};

// Trials per second of the store, and how many times as long as the bare loop it takes: one trial
// of each in turn, so that both meet the same disk.
void ingest(benchmark::State& state) {
    using Clock = std::chrono::steady_clock;
    const ScratchFolder scratch(ScratchFolder::Place::disk);
    const auto bare_file = scratch.file("bare.db");
    Store store = Store::open(scratch.file("runs.db"), OpenMode::read_write);
    const auto experiment = store.create(small_experiment());
    BareLoop bare(bare_file);
    std::int64_t number = 0;
    Clock::duration ours{};
    Clock::duration floor{};
    for (auto _ : state) {
        ++number;
        const std::size_t half = number % 2 == 1 ? 0 : 1;
        const auto trial = ok_trial(experiment, 0, half, (number + 1) / 2, PairOrder::ab, 1.5);
        const auto start = Clock::now();
        store.add(experiment.id, trial);
        const auto middle = Clock::now();
        bare.add(number);
        ours += middle - start;
        floor += Clock::now() - middle;
        state.SetIterationTime(std::chrono::duration<double>(middle - start).count());
    }
    if (query_integer(bare_file, "SELECT count(*) FROM measurement") != 2 * number) {
        state.SkipWithError("the bare loop did not store its rows");
    }
    state.SetItemsProcessed(state.iterations());
    state.counters["time_over_bare_loop"] =
        static_cast<double>(ours.count()) / static_cast<double>(floor.count());
}

// trials: how many the store holds. Made by one statement, which is not timed.
void read_pairs(benchmark::State& state) {
    const ScratchFolder scratch;
    const auto file = scratch.file("runs.db");
    { Store::open(file, OpenMode::read_write).create(small_experiment()); }
    const std::string pairs = std::to_string(state.range(0) / 2);
    run_sql(file,
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + pairs +
                ") INSERT INTO trial SELECT NULL, 1, 1, s.id, i, 'AB', s.id, 1, 'ok', '', "
                "'2026-11-30T16:00:00Z', 1 FROM n JOIN state AS s;"
                "INSERT INTO measurement SELECT id, 1, 'throughput', 'Gbit/s', 1.5 FROM trial;"
                "INSERT INTO measurement SELECT id, 2, 'recv_calls', '1', 7 FROM trial;");
    const Store store = Store::open(file, OpenMode::read_write);
    for (auto _ : state) {
        const auto series = store.paired(1);
        if (series.size() != 2) state.SkipWithError("pairs are missing");
        benchmark::DoNotOptimize(series.data());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.SetComplexityN(state.range(0));
}

void read_csv_rows(benchmark::State& state) {
    PairedSeries series;
    series.workload = "fixed/64B";
    series.metric = "throughput";
    series.unit = "Gbit/s";
    for (std::int64_t pair = 1; pair <= state.range(0) / 2; ++pair) {
        series.pairs.push_back({pair, PairOrder::ab, 0.1289999, 0.2489111});
    }
    const std::string text = to_csv(std::vector{series});
    for (auto _ : state) {
        std::istringstream in(text);
        benchmark::DoNotOptimize(read_csv(in, "bench", {}).data());
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

BENCHMARK(ingest)->UseManualTime();
BENCHMARK(read_pairs)
    ->Arg(12'500)
    ->Arg(25'000)
    ->Arg(50'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK(read_csv_rows)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vsb::datasets

BENCHMARK_MAIN();
