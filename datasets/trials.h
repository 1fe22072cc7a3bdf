#pragma once
// The rows of trials with their measurements and samples. Callers hold the transaction.

#include <string>
#include <vector>

#include "datasets/records.h"
#include "datasets/sqlite.h"

namespace vsb::datasets {

const char* text_of(TrialStatus status);
const char* text_of(PairOrder order);

// Throws std::invalid_argument for a record that cannot be stored as it stands.
void check_new(const TrialRecord& trial);

// Keeps its statements prepared: a run writes many trials.
class TrialWriter {
  public:
    explicit TrialWriter(sql::Database& database);
    // Throws std::invalid_argument when there is an ok trial of this workload, pair and state, or
    // this attempt's state or position is taken.
    Id insert(Id experiment, const TrialRecord& trial);

  private:
    void refuse_taken(const TrialRecord& trial);

    sql::Database* database_;
    sql::Statement taken_;
    sql::Statement trial_;
    sql::Statement measurement_;
    sql::Statement sample_block_;
};

std::size_t invalidate_lone_halves(sql::Database& database, Id experiment,
                                   const std::string& reason);

std::vector<TrialRecord> select_trials(sql::Database& database, Id experiment, bool with_samples);

// What pairs of headline metrics are made of: each trial with its first measurement at most,
// without reason, time and samples. Keeps its statement prepared: a history has many experiments.
class HeadlineReader {
  public:
    explicit HeadlineReader(sql::Database& database);
    std::vector<TrialRecord> read(Id experiment);  // in the order recorded

  private:
    sql::Statement rows_;
};

}  // namespace vsb::datasets
