#include "datasets/experiments.h"

#include <charconv>
#include <set>
#include <stdexcept>

#include "datasets/owner.h"
#include "datasets/utc.h"

namespace vsb::datasets {
namespace {

constexpr const char* kColumns =
    "SELECT id, uuid, name, target, status, started, finished, seed, planned_pairs, config, "
    "tool_version, project_commit, owner_pid, owner_start_ticks, owner_boot_id, "
    "owner_pid_namespace FROM experiment ";

Owner owner_of(const sql::Statement& row, int first) {
    return {row.integer(first), row.integer(first + 1), row.text(first + 2), row.text(first + 3)};
}

ExperimentRecord experiment_of(const sql::Statement& row) {
    ExperimentRecord record;
    record.id = row.integer(0);
    record.uuid = row.text(1);
    record.name = row.text(2);
    record.target = row.text(3);
    record.status = experiment_status(row.text(4));
    record.started = row.text(5);
    record.finished = row.text(6);
    const std::string seed = row.text(7);
    const auto parsed = std::from_chars(seed.data(), seed.data() + seed.size(), record.seed);
    if (parsed.ec != std::errc() || parsed.ptr != seed.data() + seed.size()) {
        throw sql::Error(SQLITE_CORRUPT, "experiment " + std::to_string(record.id) +
                                             " has a seed that does not fit 64 bits");
    }
    record.pairs = row.integer(8);
    record.config = row.text(9);
    record.tool_version = row.text(10);
    record.project_commit = row.text(11);
    // What a reader sees is the truth, also where it may not write it down (mark_interrupted).
    if (record.status == ExperimentStatus::running && is_gone(owner_of(row, 12))) {
        record.status = ExperimentStatus::interrupted;
    }
    return record;
}

void read_parts(sql::Database& database, ExperimentRecord& record) {
    sql::Statement states(database,
                          "SELECT id, label, spec FROM state WHERE experiment_id = ? "
                          "ORDER BY ordinal");
    states.bind(1, record.id);
    while (states.step()) {
        record.states.push_back({states.integer(0), states.text(1), states.text(2)});
    }
    sql::Statement workloads(database,
                             "SELECT id, name, kind, payload_bytes, recv_bytes, writes "
                             "FROM workload WHERE experiment_id = ? ORDER BY ordinal");
    workloads.bind(1, record.id);
    while (workloads.step()) {
        record.workloads.push_back({workloads.integer(0), workloads.text(1), workloads.text(2),
                                    workloads.integer(3), workloads.integer(4),
                                    workloads.integer(5)});
    }
}

void insert_parts(sql::Database& database, ExperimentRecord& record) {
    std::int64_t ordinal = 0;
    sql::Statement state(database,
                         "INSERT INTO state (experiment_id, ordinal, label, spec) "
                         "VALUES (?, ?, ?, ?)");
    for (StateRecord& each : record.states) {
        state.bind(1, record.id).bind(2, ++ordinal).bind(3, each.label).bind(4, each.spec).run();
        each.id = sqlite3_last_insert_rowid(database.handle());
    }
    ordinal = 0;
    sql::Statement workload(database,
                            "INSERT INTO workload (experiment_id, ordinal, name, kind, "
                            "payload_bytes, recv_bytes, writes) VALUES (?, ?, ?, ?, ?, ?, ?)");
    for (WorkloadRecord& each : record.workloads) {
        workload.bind(1, record.id).bind(2, ++ordinal).bind(3, each.name).bind(4, each.kind);
        workload.bind(5, each.payload_bytes).bind(6, each.recv_bytes).bind(7, each.writes).run();
        each.id = sqlite3_last_insert_rowid(database.handle());
    }
    sql::Statement environment(
        database, "INSERT INTO environment (experiment_id, key, value) VALUES (?, ?, ?)");
    for (const auto& [key, value] : record.environment) {
        environment.bind(1, record.id).bind(2, key).bind(3, value).run();
    }
}

}  // namespace

const char* text_of(ExperimentStatus status) {
    switch (status) {
        case ExperimentStatus::running:
            return "running";
        case ExperimentStatus::finished:
            return "finished";
        case ExperimentStatus::failed:
            return "failed";
        case ExperimentStatus::interrupted:
            return "interrupted";
    }
    throw std::invalid_argument("no such experiment status");
}

ExperimentStatus experiment_status(const std::string& text) {
    for (const auto status : {ExperimentStatus::running, ExperimentStatus::finished,
                              ExperimentStatus::failed, ExperimentStatus::interrupted}) {
        if (text == text_of(status)) return status;
    }
    throw sql::Error(SQLITE_CORRUPT, "an experiment has the status '" + text + "'");
}

void check_new(const NewExperiment& experiment) {
    const auto demand = [](bool holds, const std::string& why) {
        if (!holds) throw std::invalid_argument("this experiment cannot be stored: " + why);
    };
    demand(!experiment.name.empty(), "it has no name");
    demand(!experiment.target.empty(), "it names no target");
    demand(experiment.pairs >= 0, "the number of pairs is negative");
    demand(!experiment.states.empty(), "it has no states");
    demand(!experiment.workloads.empty(), "it has no workloads");
    std::set<std::string> labels;
    for (const StateRecord& state : experiment.states) {
        demand(!state.label.empty(), "a state has no label");
        demand(labels.insert(state.label).second, "two states are labelled " + state.label);
    }
    std::set<std::string> names;
    for (const WorkloadRecord& workload : experiment.workloads) {
        demand(!workload.name.empty(), "a workload has no name");
        demand(!workload.kind.empty(), "workload " + workload.name + " has no kind");
        demand(names.insert(workload.name).second, "two workloads are named " + workload.name);
        demand(workload.payload_bytes >= 0 && workload.recv_bytes >= 0 && workload.writes >= 0,
               "workload " + workload.name + " has a negative size or count");
    }
    demand(!experiment.environment.contains(""), "a line of the environment has no key");
}

ExperimentRecord insert_experiment(sql::Database& database, const NewExperiment& experiment,
                                   const std::string& uuid) {
    ExperimentRecord record;
    static_cast<NewExperiment&>(record) = experiment;
    record.uuid = uuid;
    record.started = utc_now();
    record.status = ExperimentStatus::running;
    const Owner owner = this_process();
    sql::Statement row(database,
                       "INSERT INTO experiment (uuid, name, target, status, started, seed, "
                       "planned_pairs, config, tool_version, project_commit, owner_pid, "
                       "owner_start_ticks, owner_boot_id, owner_pid_namespace) "
                       "VALUES (?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    row.bind(1, record.uuid).bind(2, record.name).bind(3, record.target).bind(4, record.started);
    row.bind(5, std::to_string(record.seed)).bind(6, record.pairs).bind(7, record.config);
    row.bind(8, record.tool_version).bind(9, record.project_commit).bind(10, owner.pid);
    row.bind(11, owner.start_ticks).bind(12, owner.boot_id).bind(13, owner.pid_namespace).run();
    record.id = sqlite3_last_insert_rowid(database.handle());
    insert_parts(database, record);
    return record;
}

void set_times(sql::Database& database, Id experiment, const std::string& started,
               const std::string& finished) {
    sql::Statement update(database,
                          "UPDATE experiment SET started = coalesce(nullif(?1, ''), started), "
                          "finished = coalesce(nullif(?2, ''), finished) WHERE id = ?3");
    update.bind(1, started).bind(2, finished).bind(3, experiment).run();
}

void update_status(sql::Database& database, Id experiment, ExperimentStatus status) {
    sql::Statement found(database,
                         "SELECT status, owner_pid, owner_start_ticks, owner_boot_id, "
                         "owner_pid_namespace FROM experiment WHERE id = ?");
    found.bind(1, experiment);
    if (!found.step()) no_such_experiment(database, std::to_string(experiment));
    const Owner self = this_process();
    if (status != ExperimentStatus::running) {
        sql::Statement update(database,
                              "UPDATE experiment SET status = ?, finished = ? WHERE id = ?");
        update.bind(1, text_of(status)).bind(2, utc_now()).bind(3, experiment).run();
        return;
    }
    const Owner owner = owner_of(found, 1);
    if (found.text(0) == "running" && owner != self && !is_gone(owner)) {
        throw std::invalid_argument("experiment " + std::to_string(experiment) +
                                    " is being run by process " + std::to_string(owner.pid) +
                                    " (wait for it, or stop it)");
    }
    sql::Statement update(database,
                          "UPDATE experiment SET status = 'running', finished = NULL, "
                          "owner_pid = ?, owner_start_ticks = ?, owner_boot_id = ?, "
                          "owner_pid_namespace = ? WHERE id = ?");
    update.bind(1, self.pid).bind(2, self.start_ticks).bind(3, self.boot_id);
    update.bind(4, self.pid_namespace).bind(5, experiment).run();
}

void put_environment(sql::Database& database, Id experiment, const std::string& key,
                     const std::string& value) {
    if (key.empty()) throw std::invalid_argument("a line of the environment has no key");
    sql::Statement found(database, "SELECT 1 FROM experiment WHERE id = ?");
    found.bind(1, experiment);
    if (!found.step()) no_such_experiment(database, std::to_string(experiment));
    sql::Statement put(database,
                       "INSERT INTO environment (experiment_id, key, value) VALUES (?, ?, ?) "
                       "ON CONFLICT (experiment_id, key) DO UPDATE SET value = excluded.value");
    put.bind(1, experiment).bind(2, key).bind(3, value).run();
}

std::size_t mark_interrupted(sql::Database& database) {
    std::vector<Id> gone;
    sql::Statement running(database,
                           "SELECT id, owner_pid, owner_start_ticks, owner_boot_id, "
                           "owner_pid_namespace FROM experiment WHERE status = 'running'");
    while (running.step()) {
        if (is_gone(owner_of(running, 1))) gone.push_back(running.integer(0));
    }
    sql::Statement update(database,
                          "UPDATE experiment SET status = 'interrupted', finished = "
                          "coalesce((SELECT max(t.started) FROM trial AS t JOIN workload AS w "
                          "ON w.id = t.workload_id WHERE w.experiment_id = experiment.id), "
                          "experiment.started) WHERE id = ?");
    for (const Id id : gone)
        update.bind(1, id).run();
    return gone.size();
}

std::vector<ExperimentRecord> select_experiments(sql::Database& database) {
    std::vector<ExperimentRecord> records;
    sql::Statement rows(database, std::string(kColumns) + "ORDER BY id");
    while (rows.step())
        records.push_back(experiment_of(rows));
    for (ExperimentRecord& record : records)
        read_parts(database, record);
    return records;
}

std::optional<ExperimentRecord> select_experiment(sql::Database& database, Id id) {
    sql::Statement row(database, std::string(kColumns) + "WHERE id = ?");
    row.bind(1, id);
    if (!row.step()) return std::nullopt;
    ExperimentRecord record = experiment_of(row);
    read_parts(database, record);
    sql::Statement environment(database,
                               "SELECT key, value FROM environment WHERE experiment_id = ?");
    environment.bind(1, id);
    while (environment.step())
        record.environment[environment.text(0)] = environment.text(1);
    return record;
}

std::optional<Id> experiment_with_uuid(sql::Database& database, const std::string& uuid) {
    sql::Statement row(database, "SELECT id FROM experiment WHERE uuid = ?");
    row.bind(1, uuid);
    if (!row.step()) return std::nullopt;
    return row.integer(0);
}

void no_such_experiment(sql::Database& database, const std::string& wanted) {
    constexpr std::size_t kNamed = 10;
    std::string names;
    std::size_t count = 0;
    sql::Statement rows(database, "SELECT id, name FROM experiment ORDER BY id DESC");
    while (rows.step()) {
        if (++count > kNamed) continue;
        if (!names.empty()) names += ", ";
        names += std::to_string(rows.integer(0)) + " " + rows.text(1);
    }
    std::string there = "the store holds none yet";
    if (count > 0) there = "newest first, there are: " + names;
    if (count > kNamed) there += " and " + std::to_string(count - kNamed) + " older";
    throw std::invalid_argument("there is no experiment '" + wanted + "' (" + there + ")");
}

}  // namespace vsb::datasets
