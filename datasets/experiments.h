#pragma once
// The rows of experiments, their states, workloads and environment. Callers hold the transaction.

#include <optional>
#include <string>
#include <vector>

#include "datasets/records.h"
#include "datasets/sqlite.h"

namespace vsb::datasets {

const char* text_of(ExperimentStatus status);
ExperimentStatus experiment_status(const std::string& text);

// Throws std::invalid_argument for a record that cannot be stored as it stands.
void check_new(const NewExperiment& experiment);

// Running, and owned by this process.
ExperimentRecord insert_experiment(sql::Database& database, const NewExperiment& experiment,
                                   const std::string& uuid);

// Measured elsewhere, at these times; an empty one stays as it is.
void set_times(sql::Database& database, Id experiment, const std::string& started,
               const std::string& finished);

// running: the experiment is this process's from now on; throws std::invalid_argument when another
// live process runs it. Otherwise it is finished now.
void update_status(sql::Database& database, Id experiment, ExperimentStatus status);

// The key's value, new or instead of the one before. Throws std::invalid_argument for an experiment
// that there is not and for an empty key.
void put_environment(sql::Database& database, Id experiment, const std::string& key,
                     const std::string& value);

// Running experiments whose process is gone: interrupted, finished when the last trial that they
// recorded began. Returns how many there were.
std::size_t mark_interrupted(sql::Database& database);

std::vector<ExperimentRecord> select_experiments(sql::Database& database);  // without environment
std::optional<ExperimentRecord> select_experiment(sql::Database& database, Id id);
std::optional<Id> experiment_with_uuid(sql::Database& database, const std::string& uuid);

// Throws std::invalid_argument naming the experiments there are.
[[noreturn]] void no_such_experiment(sql::Database& database, const std::string& wanted);

}  // namespace vsb::datasets
