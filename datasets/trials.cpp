#include "datasets/trials.h"

#include <cmath>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "datasets/sample_blob.h"
#include "datasets/utc.h"

namespace vsb::datasets {
namespace {

constexpr const char* kEncoding = "delta-zigzag-leb128";

TrialStatus trial_status(const std::string& text) {
    for (const auto status :
         {TrialStatus::ok, TrialStatus::failed, TrialStatus::invalid, TrialStatus::interrupted}) {
        if (text == text_of(status)) return status;
    }
    throw sql::Error(SQLITE_CORRUPT, "a trial has the status '" + text + "'");
}

void demand(bool holds, const std::string& why) {
    if (!holds) throw std::invalid_argument("this trial cannot be stored: " + why);
}

std::string where(const TrialRecord& trial) {
    return "workload " + std::to_string(trial.workload_id) + ", pair " +
           std::to_string(trial.pair) + ", state " + std::to_string(trial.state_id);
}

}  // namespace

const char* text_of(TrialStatus status) {
    switch (status) {
        case TrialStatus::ok:
            return "ok";
        case TrialStatus::failed:
            return "failed";
        case TrialStatus::invalid:
            return "invalid";
        case TrialStatus::interrupted:
            return "interrupted";
    }
    throw std::invalid_argument("no such trial status");
}

const char* text_of(PairOrder order) {
    return order == PairOrder::ab ? "AB" : "BA";
}

void check_new(const TrialRecord& trial) {
    demand(trial.pair >= 1, "pairs are numbered from 1");
    demand(trial.position == 1 || trial.position == 2, "its position in the pair is not 1 or 2");
    demand(trial.attempt >= 1, "attempts are numbered from 1");
    demand(trial.wall_time_ns >= 0, "its wall time is negative");
    if (trial.status == TrialStatus::ok) {
        demand(trial.reason.empty(), "it is ok and yet has a reason: " + trial.reason);
    } else {
        demand(!trial.reason.empty(),
               std::string("it is ") + text_of(trial.status) + " and gives no reason");
    }
    std::set<std::string> metrics;
    for (const Measurement& each : trial.measurements) {
        demand(!each.metric.empty(), "a measurement has no metric");
        demand(std::isfinite(each.value), each.metric + " is not a finite number");
        demand(metrics.insert(each.metric).second, each.metric + " is given twice");
    }
    metrics.clear();
    for (const SampleBlock& each : trial.samples) {
        demand(!each.metric.empty(), "a block of samples has no metric");
        demand(metrics.insert(each.metric).second,
               "there are two blocks of " + each.metric + " samples");
    }
}

TrialWriter::TrialWriter(sql::Database& database)
    : database_(&database),
      taken_(database,
             "SELECT status, attempt, position, state_id FROM trial "
             "WHERE workload_id = ? AND pair = ?"),
      trial_(database,
             "INSERT INTO trial (experiment_id, workload_id, state_id, pair, pair_order, position, "
             "attempt, status, reason, started, wall_time_ns) "
             "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      measurement_(database,
                   "INSERT INTO measurement (trial_id, ordinal, metric, unit, value) "
                   "VALUES (?, ?, ?, ?, ?)"),
      sample_block_(database,
                    "INSERT INTO sample_block (trial_id, ordinal, metric, unit, encoding, "
                    "sample_count, data) VALUES (?, ?, ?, ?, ?, ?, ?)") {}

void TrialWriter::refuse_taken(const TrialRecord& trial) {
    taken_.reset();
    taken_.bind(1, trial.workload_id).bind(2, trial.pair);
    std::string why;
    while (taken_.step()) {
        const bool same_state = taken_.integer(3) == trial.state_id;
        const bool same_attempt = taken_.integer(1) == trial.attempt;
        if (same_state && taken_.text(0) == "ok" && trial.status == TrialStatus::ok) {
            why = "there is an ok trial already";
        } else if (same_state && same_attempt) {
            why = "this attempt was recorded already";
        } else if (same_attempt && taken_.integer(2) == trial.position) {
            why = "another state's trial has this position in the attempt";
        }
    }
    taken_.reset();
    demand(why.empty(),
           why + " (" + where(trial) + ", attempt " + std::to_string(trial.attempt) + ")");
}

Id TrialWriter::insert(Id experiment, const TrialRecord& trial) {
    refuse_taken(trial);
    trial_.bind(1, experiment).bind(2, trial.workload_id).bind(3, trial.state_id);
    trial_.bind(4, trial.pair).bind(5, text_of(trial.pair_order));
    trial_.bind(6, std::int64_t{trial.position}).bind(7, trial.attempt);
    trial_.bind(8, text_of(trial.status)).bind(9, trial.reason);
    trial_.bind(10, trial.started.empty() ? utc_now() : trial.started);
    trial_.bind(11, trial.wall_time_ns).run();
    const Id id = sqlite3_last_insert_rowid(database_->handle());

    std::int64_t ordinal = 0;
    for (const Measurement& each : trial.measurements) {
        measurement_.bind(1, id).bind(2, ++ordinal).bind(3, each.metric).bind(4, each.unit);
        measurement_.bind(5, each.value).run();
    }
    ordinal = 0;
    for (const SampleBlock& each : trial.samples) {
        sample_block_.bind(1, id).bind(2, ++ordinal).bind(3, each.metric).bind(4, each.unit);
        sample_block_.bind(5, kEncoding);
        sample_block_.bind(6, static_cast<std::int64_t>(each.values.size()));
        sample_block_.bind(7, encode_samples(each.values)).run();
    }
    return id;
}

std::size_t invalidate_lone_halves(sql::Database& database, Id experiment,
                                   const std::string& reason) {
    demand(!reason.empty(), "a lone half needs a reason to be invalid");
    // A partner that is ok in another attempt is no partner: the two were not measured together.
    sql::Statement update(database,
                          "UPDATE trial SET status = 'invalid', reason = ? "
                          "WHERE experiment_id = ? AND status = 'ok' AND NOT EXISTS ("
                          "SELECT 1 FROM trial AS partner "
                          "WHERE partner.workload_id = trial.workload_id "
                          "AND partner.pair = trial.pair AND partner.attempt = trial.attempt "
                          "AND partner.status = 'ok' AND partner.id <> trial.id)");
    update.bind(1, reason).bind(2, experiment).run();
    return static_cast<std::size_t>(sqlite3_changes64(database.handle()));
}

std::vector<TrialRecord> select_trials(sql::Database& database, Id experiment, bool with_samples) {
    std::vector<TrialRecord> trials;
    std::unordered_map<Id, std::size_t> index;
    sql::Statement rows(database,
                        "SELECT t.id, t.workload_id, t.state_id, t.pair, t.pair_order, "
                        "t.position, t.attempt, t.status, t.reason, t.started, t.wall_time_ns "
                        "FROM workload AS w JOIN trial AS t ON t.workload_id = w.id "
                        "WHERE w.experiment_id = ? ORDER BY t.id");
    rows.bind(1, experiment);
    while (rows.step()) {
        TrialRecord trial;
        trial.id = rows.integer(0);
        trial.workload_id = rows.integer(1);
        trial.state_id = rows.integer(2);
        trial.pair = rows.integer(3);
        trial.pair_order = rows.text(4) == "AB" ? PairOrder::ab : PairOrder::ba;
        trial.position = static_cast<int>(rows.integer(5));
        trial.attempt = rows.integer(6);
        trial.status = trial_status(rows.text(7));
        trial.reason = rows.text(8);
        trial.started = rows.text(9);
        trial.wall_time_ns = rows.integer(10);
        index[trial.id] = trials.size();
        trials.push_back(std::move(trial));
    }
    sql::Statement measurements(database,
                                "SELECT m.trial_id, m.metric, m.unit, m.value "
                                "FROM workload AS w JOIN trial AS t ON t.workload_id = w.id "
                                "JOIN measurement AS m ON m.trial_id = t.id "
                                "WHERE w.experiment_id = ? ORDER BY m.trial_id, m.ordinal");
    measurements.bind(1, experiment);
    while (measurements.step()) {
        trials.at(index.at(measurements.integer(0)))
            .measurements.push_back(
                {measurements.text(1), measurements.text(2), measurements.real(3)});
    }
    if (!with_samples) return trials;
    sql::Statement blocks(database,
                          "SELECT b.trial_id, b.metric, b.unit, b.sample_count, b.data "
                          "FROM workload AS w JOIN trial AS t ON t.workload_id = w.id "
                          "JOIN sample_block AS b ON b.trial_id = t.id "
                          "WHERE w.experiment_id = ? ORDER BY b.trial_id, b.ordinal");
    blocks.bind(1, experiment);
    while (blocks.step()) {
        SampleBlock block{blocks.text(1), blocks.text(2), {}};
        try {
            block.values =
                decode_samples(blocks.blob(4), static_cast<std::uint64_t>(blocks.integer(3)));
        } catch (const std::invalid_argument& error) {
            throw sql::Error(SQLITE_CORRUPT, "the samples of trial " +
                                                 std::to_string(blocks.integer(0)) +
                                                 " are damaged: " + error.what());
        }
        trials.at(index.at(blocks.integer(0))).samples.push_back(std::move(block));
    }
    return trials;
}

HeadlineReader::HeadlineReader(sql::Database& database)
    : rows_(database,
            "SELECT t.id, t.workload_id, t.state_id, t.pair, t.pair_order = 'AB', t.position, "
            "t.attempt, t.status, m.metric, m.unit, m.value "
            "FROM workload AS w JOIN trial AS t ON t.workload_id = w.id "
            "LEFT JOIN measurement AS m ON m.trial_id = t.id AND m.ordinal = 1 "
            "WHERE w.experiment_id = ? ORDER BY t.id") {}

std::vector<TrialRecord> HeadlineReader::read(Id experiment) {
    std::vector<TrialRecord> trials;
    rows_.reset();
    rows_.bind(1, experiment);
    while (rows_.step()) {
        TrialRecord& trial = trials.emplace_back();
        trial.id = rows_.integer(0);
        trial.workload_id = rows_.integer(1);
        trial.state_id = rows_.integer(2);
        trial.pair = rows_.integer(3);
        trial.pair_order = rows_.integer(4) != 0 ? PairOrder::ab : PairOrder::ba;
        trial.position = static_cast<int>(rows_.integer(5));
        trial.attempt = rows_.integer(6);
        trial.status = trial_status(rows_.text(7));
        if (!rows_.is_null(8)) {
            trial.measurements.push_back({rows_.text(8), rows_.text(9), rows_.real(10)});
        }
    }
    rows_.reset();
    return trials;
}

}  // namespace vsb::datasets
