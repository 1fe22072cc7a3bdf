#pragma once
// The run store: one SQLite file. Schema: datasets/SCHEMA.md (a public interface).
//
// One Store is for one thread at a time and is not carried across fork(). Several processes may
// have one file open; each write waits its turn. Reading a page that turns out to be damaged throws
// StoreUnusable from any reading member.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "datasets/records.h"

namespace vsb::datasets {

// The file is foreign, corrupt, newer than this program, or cannot be opened or written as asked.
// what() says what, why, and how to mend. Thrown by Store::open: nothing has been measured yet.
struct StoreUnusable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A write failed while a run was under way (disk full, the file vanished). What was committed
// stays.
struct StoreWriteFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class OpenMode {
    read_only,   // must exist; trusted_schema off; never written
    read_write,  // created when missing; older schemas are migrated (after a backup)
};

class Store {
  public:
    // Opens and checks (application_id, user_version, quick_check). In read_write mode an
    // experiment left `running` by a process that is gone is marked `interrupted`.
    static Store open(const std::filesystem::path& file, OpenMode mode);
    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

    // One transaction; returns the record as stored, ids filled in, status running.
    ExperimentRecord create(const NewExperiment& experiment);
    // An experiment that was measured elsewhere, in one transaction, with the status given. content
    // is what it was read from: the same content twice is stored once, and the first import is
    // returned. In its trials workload_id and state_id count the experiment's workloads and states
    // from 1. It started when the first of the trials that say so did, and finished when the last
    // of them began. Throws std::invalid_argument as create() and add() do.
    struct Imported {
        ExperimentRecord experiment;
        bool is_new = false;
    };
    Imported import(const NewExperiment& experiment, std::span<const TrialRecord> trials,
                    ExperimentStatus status, const std::string& content);
    // The trial, its measurements and samples in one transaction; returns its id. A second ok trial
    // in one (workload, pair, state) is refused with std::invalid_argument; so is a second trial of
    // one state or one position in one attempt at a pair. An empty `started` becomes now.
    Id add(Id experiment, const TrialRecord& trial);
    // Resume: an ok trial whose partner was never measured ok becomes `invalid` with this reason.
    // Returns how many were.
    std::size_t invalidate_lone_halves(Id experiment, const std::string& reason);
    // One transaction; a value already there under this key is replaced. For what is known only
    // once trials have run: load_end, machine.*.end, warning.<code>.
    void set_environment(Id experiment, const std::string& key, const std::string& value);
    // Sets finished as well unless running. running makes this process the experiment's owner:
    // resume calls it first. Throws std::invalid_argument when another live process runs it.
    void set_status(Id experiment, ExperimentStatus status);

    std::vector<ExperimentRecord> experiments() const;  // oldest first, without environment
    // "last" or a number. Throws std::invalid_argument naming what exists when there is none.
    ExperimentRecord find(const std::string& id_or_last) const;
    std::vector<TrialRecord> trials(Id experiment, bool with_samples = false) const;
    // Whole pairs of ok trials of one attempt between the states with these labels, one series per
    // workload and metric: workloads in schedule order, metrics as measured (the first one is the
    // headline), pairs in the order they were run. lost_a, lost_b: pairs that are not whole and of
    // which this state's run failed, or, where none failed, was invalid or interrupted; and pairs
    // in which only this state lacks the metric.
    std::vector<PairedSeries> paired(Id experiment, const std::string& a = "A",
                                     const std::string& b = "B") const;
    // As paired() between A and B, each workload's headline metric only: for a trend over many
    // experiments. `experiment` is a record of this store.
    std::vector<PairedSeries> headlines(const ExperimentRecord& experiment) const;

  private:
    struct Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace vsb::datasets
