#include "datasets/store_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

namespace vsb::datasets {

ScratchFolder::ScratchFolder(Place place) {
    // Tests make hundreds of stores, each of which is synced many times.
    std::filesystem::path parent = "/dev/shm";
    if (place == Place::disk || access(parent.c_str(), W_OK) != 0) {
        parent = std::filesystem::temp_directory_path();
    }
    std::string name = (parent / "vsb-store-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), "mkdtemp");
    }
    path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

NewExperiment small_experiment() {
    NewExperiment experiment;
    experiment.name = "demo";
    experiment.target = "fake";
    experiment.seed = 18446744073709551615ULL;
    experiment.pairs = 4;
    experiment.config = "pairs = 4\n";
    experiment.tool_version = "0.1.0";
    experiment.project_commit = "8a599f0";
    experiment.states = {{0, "A", "policy=per-packet"}, {0, "B", "policy=deferred-notify"}};
    experiment.workloads = {{0, "fixed/64B", "fixed", 64, 65536, 1048576},
                            {0, "rtt/4K", "rtt", 4096, 0, 10000}};
    experiment.environment = {{"kernel", "6.1.0"}, {"cpu", "two of them"}};
    return experiment;
}

TrialRecord ok_trial(const ExperimentRecord& experiment, std::size_t workload, std::size_t state,
                     std::int64_t pair, PairOrder order, double throughput) {
    TrialRecord trial;
    trial.workload_id = experiment.workloads.at(workload).id;
    trial.state_id = experiment.states.at(state).id;
    trial.pair = pair;
    trial.pair_order = order;
    trial.position = (order == PairOrder::ab) == (state == 0) ? 1 : 2;
    trial.started = "2026-11-30T16:00:00Z";
    trial.wall_time_ns = 50'000'000;
    trial.measurements = {{"throughput", "Gbit/s", throughput}, {"recv_calls", "1", 1048577}};
    return trial;
}

void record_pairs(Store& store, const ExperimentRecord& experiment, std::int64_t pairs) {
    for (std::int64_t pair = 1; pair <= pairs; ++pair) {
        const auto order = pair % 2 == 1 ? PairOrder::ab : PairOrder::ba;
        const std::size_t first = order == PairOrder::ab ? 0 : 1;
        for (const std::size_t state : {first, 1 - first}) {
            const double value =
                1.0 + static_cast<double>(state) + 0.01 * static_cast<double>(pair);
            store.add(experiment.id, ok_trial(experiment, 0, state, pair, order, value));
        }
    }
}

std::int64_t query_integer(const std::filesystem::path& file, const std::string& query) {
    sql::Database database(file.string(), SQLITE_OPEN_READWRITE);
    return database.integer(query.c_str());
}

std::string query_text(const std::filesystem::path& file, const std::string& query) {
    sql::Database database(file.string(), SQLITE_OPEN_READWRITE);
    return database.text(query.c_str());
}

void run_sql(const std::filesystem::path& file, const std::string& script) {
    sql::Database database(file.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    database.execute(script.c_str());
}

std::string read_bytes(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string refusal(const std::filesystem::path& file, OpenMode mode) {
    try {
        Store::open(file, mode);
    } catch (const StoreUnusable& error) {
        return error.what();
    }
    return {};
}

}  // namespace vsb::datasets
