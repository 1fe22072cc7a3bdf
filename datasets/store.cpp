#include "datasets/store.h"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <charconv>
#include <optional>
#include <utility>

#include "datasets/experiments.h"
#include "datasets/opening.h"
#include "datasets/pairs.h"
#include "datasets/sqlite.h"
#include "datasets/trials.h"

namespace vsb::datasets {

struct Store::Impl {
    std::string file;
    OpenMode mode;
    sql::Database database;
    std::optional<TrialWriter> writer;        // prepared at the first trial
    std::optional<HeadlineReader> headlines;  // prepared at the first experiment

    template <class Work>
    auto write(Work work) {
        if (mode == OpenMode::read_only) {
            throw std::logic_error("the store " + file + " was opened for reading only");
        }
        try {
            sql::Transaction transaction(database, sql::Transaction::Kind::write);
            refuse_moved();
            if constexpr (std::is_void_v<decltype(work())>) {
                work();
                transaction.commit();
            } else {
                auto result = work();
                transaction.commit();
                return result;
            }
        } catch (const sql::Error& error) {
            throw_write_error(error);
        }
    }

    // One snapshot for all its queries, whatever others write meanwhile.
    template <class Work>
    auto read(Work work) {
        try {
            sql::Transaction transaction(database, sql::Transaction::Kind::read);
            auto result = work();
            transaction.commit();
            return result;
        } catch (const sql::Error& error) {
            throw StoreUnusable("the store " + file + " cannot be read: " + error.what() +
                                " (it is left as it is; take a copy of it and try `sqlite3 FILE "
                                ".recover`)");
        }
    }

  private:
    // SQLite goes on writing into a file that has lost its name; nobody would find it again.
    void refuse_moved() {
        int moved = 0;
        sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
        if (moved != 0) throw sql::Error(SQLITE_READONLY_DBMOVED, "the file was moved or deleted");
    }

    [[noreturn]] void throw_write_error(const sql::Error& error) const {
        if (error.primary() == SQLITE_CONSTRAINT) {
            throw std::invalid_argument("the store " + file + " refuses this: " + error.what());
        }
        const char* mend = "what was recorded before is kept";
        if (error.primary() == SQLITE_FULL)
            mend = "make room on the disk; what was recorded before is kept";
        if (error.primary() == SQLITE_BUSY)
            mend = "another process holds it; what was recorded before is kept";
        throw StoreWriteFailed("writing to the store " + file + " failed: " + error.what() + " (" +
                               mend + ")");
    }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const std::filesystem::path& file, OpenMode mode) {
    Store store(std::unique_ptr<Impl>(
        new Impl{file.string(), mode, open_checked(file, mode), std::nullopt, std::nullopt}));
    if (mode == OpenMode::read_write) {
        try {
            store.impl_->write([&] { return mark_interrupted(store.impl_->database); });
        } catch (const StoreWriteFailed& error) {
            throw StoreUnusable(error.what());
        }
    }
    return store;
}

ExperimentRecord Store::create(const NewExperiment& experiment) {
    check_new(experiment);
    const std::string uuid = to_string(boost::uuids::random_generator()());
    return impl_->write([&] { return insert_experiment(impl_->database, experiment, uuid); });
}

Store::Imported Store::import(const NewExperiment& experiment, std::span<const TrialRecord> trials,
                              ExperimentStatus status, const std::string& content) {
    check_new(experiment);
    if (status == ExperimentStatus::running) {
        throw std::invalid_argument("an imported experiment is not running");
    }
    for (const TrialRecord& trial : trials)
        check_new(trial);
    // A UUID by name: the column's UNIQUE is what makes importing twice the same as once.
    boost::uuids::name_generator_sha1 of_content(boost::uuids::ns::oid());
    const std::string uuid = to_string(of_content("vsockbench import\n" + content));
    return impl_->write([&] {
        auto& database = impl_->database;
        if (const auto known = experiment_with_uuid(database, uuid)) {
            return Imported{select_experiment(database, *known).value(), false};
        }
        const auto stored = insert_experiment(database, experiment, uuid);
        TrialWriter writer(database);
        std::string first;
        std::string last;
        for (TrialRecord trial : trials) {
            if (!trial.started.empty()) {
                if (first.empty() || trial.started < first) first = trial.started;
                if (trial.started > last) last = trial.started;
            }
            const auto at = [](const auto& records, Id number) {
                if (number < 1 || static_cast<std::uint64_t>(number) > records.size()) {
                    throw std::invalid_argument("a trial of the import names workload or state " +
                                                std::to_string(number) + ", which there is not");
                }
                return records[static_cast<std::size_t>(number) - 1].id;
            };
            trial.workload_id = at(stored.workloads, trial.workload_id);
            trial.state_id = at(stored.states, trial.state_id);
            writer.insert(stored.id, trial);
        }
        update_status(database, stored.id, status);
        set_times(database, stored.id, first, last);
        return Imported{select_experiment(database, stored.id).value(), true};
    });
}

Id Store::add(Id experiment, const TrialRecord& trial) {
    check_new(trial);
    return impl_->write([&] {
        if (!impl_->writer) impl_->writer.emplace(impl_->database);
        return impl_->writer->insert(experiment, trial);
    });
}

std::size_t Store::invalidate_lone_halves(Id experiment, const std::string& reason) {
    return impl_->write(
        [&] { return datasets::invalidate_lone_halves(impl_->database, experiment, reason); });
}

void Store::set_environment(Id experiment, const std::string& key, const std::string& value) {
    impl_->write([&] { put_environment(impl_->database, experiment, key, value); });
}

void Store::set_status(Id experiment, ExperimentStatus status) {
    impl_->write([&] { update_status(impl_->database, experiment, status); });
}

std::vector<ExperimentRecord> Store::experiments() const {
    return impl_->read([&] { return select_experiments(impl_->database); });
}

ExperimentRecord Store::find(const std::string& id_or_last) const {
    return impl_->read([&] {
        auto& database = impl_->database;
        Id id = 0;
        if (id_or_last == "last") {
            id = database.integer("SELECT coalesce(max(id), 0) FROM experiment");
        } else {
            const char* end = id_or_last.data() + id_or_last.size();
            const auto parsed = std::from_chars(id_or_last.data(), end, id);
            if (parsed.ec != std::errc() || parsed.ptr != end) id = 0;
        }
        auto record = select_experiment(database, id);
        if (!record) no_such_experiment(database, id_or_last);
        return *std::move(record);
    });
}

std::vector<TrialRecord> Store::trials(Id experiment, bool with_samples) const {
    return impl_->read([&] { return select_trials(impl_->database, experiment, with_samples); });
}

std::vector<PairedSeries> Store::paired(Id experiment, const std::string& a,
                                        const std::string& b) const {
    return impl_->read([&] {
        const auto record = select_experiment(impl_->database, experiment);
        if (!record) no_such_experiment(impl_->database, std::to_string(experiment));
        const auto state = [&](const std::string& label) {
            std::string labels;
            for (const StateRecord& each : record->states) {
                if (each.label == label) return each.id;
                labels += (labels.empty() ? "" : ", ") + each.label;
            }
            throw std::invalid_argument("experiment " + std::to_string(experiment) +
                                        " has no state " + label + " (it has " + labels + ")");
        };
        const Id first = state(a);
        const Id second = state(b);
        if (first == second) throw std::invalid_argument("a state cannot be paired with itself");
        return pair_trials(*record, select_trials(impl_->database, experiment, false), first,
                           second);
    });
}

std::vector<PairedSeries> Store::headlines(const ExperimentRecord& experiment) const {
    const auto state = [&](const char* label) {
        const auto found = std::ranges::find(experiment.states, label, &StateRecord::label);
        if (found == experiment.states.end()) {
            throw std::invalid_argument("experiment " + std::to_string(experiment.id) +
                                        " has no state " + label);
        }
        return found->id;
    };
    const Id a = state("A");
    const Id b = state("B");
    return impl_->read([&] {
        if (!impl_->headlines) impl_->headlines.emplace(impl_->database);
        return pair_trials(experiment, impl_->headlines->read(experiment.id), a, b);
    });
}

}  // namespace vsb::datasets
