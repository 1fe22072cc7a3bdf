#pragma once
// For tests: a private folder, a small experiment, and direct SQL beside the store.

#include <cstdint>
#include <filesystem>
#include <string>

#include "datasets/records.h"
#include "datasets/sqlite.h"
#include "datasets/store.h"

namespace vsb::datasets {

// Made with mkdtemp, removed at the end.
class ScratchFolder {
  public:
    // In memory where that can be had, or on the disk of the temporary folder.
    enum class Place : std::uint8_t { memory, disk };
    explicit ScratchFolder(Place place = Place::memory);
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path file(const std::string& name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

// States A and B; workloads fixed/64B and rtt/4K.
NewExperiment small_experiment();

// An ok trial of the experiment's workload and state by index from 0, first position given to the
// state that the order names first.
TrialRecord ok_trial(const ExperimentRecord& experiment, std::size_t workload, std::size_t state,
                     std::int64_t pair, PairOrder order, double throughput);

// Runs `pairs` whole pairs of the first workload, AB and BA by turns.
void record_pairs(Store& store, const ExperimentRecord& experiment, std::int64_t pairs);

// Direct SQL, as a user of sqlite3 has it.
std::int64_t query_integer(const std::filesystem::path& file, const std::string& query);
std::string query_text(const std::filesystem::path& file, const std::string& query);
void run_sql(const std::filesystem::path& file, const std::string& script);

std::string read_bytes(const std::filesystem::path& file);
void write_bytes(const std::filesystem::path& file, const std::string& bytes);

// What StoreUnusable says on opening; empty when it opens.
std::string refusal(const std::filesystem::path& file, OpenMode mode = OpenMode::read_write);

}  // namespace vsb::datasets
