#include "datasets/migrations.h"

#include <array>

namespace vsb::datasets {
namespace {

// The bound on value refuses infinities, NOT NULL refuses NaN (SQLite stores a NaN as NULL), and
// STRICT refuses everything that is no number.
constexpr const char* kRuns = R"sql(
CREATE TABLE experiment (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 36),
    name TEXT NOT NULL CHECK (name <> ''),
    target TEXT NOT NULL CHECK (target <> ''),
    status TEXT NOT NULL CHECK (status IN ('running', 'finished', 'failed', 'interrupted')),
    started TEXT NOT NULL CHECK (started GLOB '????-??-??T??:??:??*Z'),
    finished TEXT CHECK (finished GLOB '????-??-??T??:??:??*Z'),
    seed TEXT NOT NULL CHECK (seed <> '' AND seed NOT GLOB '*[^0-9]*'),
    planned_pairs INTEGER NOT NULL CHECK (planned_pairs >= 0),
    config TEXT NOT NULL,
    tool_version TEXT NOT NULL,
    project_commit TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_start_ticks INTEGER NOT NULL,
    owner_boot_id TEXT NOT NULL,
    owner_pid_namespace TEXT NOT NULL,
    CHECK ((status = 'running') = (finished IS NULL))
) STRICT;

CREATE TABLE environment (
    experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
    key TEXT NOT NULL CHECK (key <> ''),
    value TEXT NOT NULL,
    PRIMARY KEY (experiment_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE state (
    id INTEGER PRIMARY KEY,
    experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),
    label TEXT NOT NULL CHECK (label <> ''),
    spec TEXT NOT NULL,
    UNIQUE (experiment_id, ordinal),
    UNIQUE (experiment_id, label),
    UNIQUE (id, experiment_id)
) STRICT;

CREATE TABLE workload (
    id INTEGER PRIMARY KEY,
    experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),
    name TEXT NOT NULL CHECK (name <> ''),
    kind TEXT NOT NULL CHECK (kind <> ''),
    payload_bytes INTEGER NOT NULL CHECK (payload_bytes >= 0),
    recv_bytes INTEGER NOT NULL CHECK (recv_bytes >= 0),
    writes INTEGER NOT NULL CHECK (writes >= 0),
    UNIQUE (experiment_id, ordinal),
    UNIQUE (experiment_id, name),
    UNIQUE (id, experiment_id)
) STRICT;

CREATE TABLE trial (
    id INTEGER PRIMARY KEY,
    experiment_id INTEGER NOT NULL REFERENCES experiment (id) ON DELETE CASCADE,
    workload_id INTEGER NOT NULL,
    state_id INTEGER NOT NULL,
    pair INTEGER NOT NULL CHECK (pair >= 1),
    pair_order TEXT NOT NULL CHECK (pair_order IN ('AB', 'BA')),
    position INTEGER NOT NULL CHECK (position IN (1, 2)),
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    status TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'invalid', 'interrupted')),
    reason TEXT NOT NULL,
    started TEXT NOT NULL CHECK (started GLOB '????-??-??T??:??:??*Z'),
    wall_time_ns INTEGER NOT NULL CHECK (wall_time_ns >= 0),
    FOREIGN KEY (workload_id, experiment_id) REFERENCES workload (id, experiment_id)
        ON DELETE CASCADE,
    FOREIGN KEY (state_id, experiment_id) REFERENCES state (id, experiment_id) ON DELETE CASCADE,
    UNIQUE (workload_id, pair, attempt, state_id),
    UNIQUE (workload_id, pair, attempt, position),
    CHECK ((status = 'ok') = (reason = ''))
) STRICT;

CREATE UNIQUE INDEX trial_one_ok
    ON trial (experiment_id, workload_id, pair, state_id) WHERE status = 'ok';

CREATE TABLE measurement (
    trial_id INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),
    metric TEXT NOT NULL CHECK (metric <> ''),
    unit TEXT NOT NULL,
    value REAL NOT NULL
        CHECK (value BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308),
    PRIMARY KEY (trial_id, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE sample_block (
    trial_id INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),
    metric TEXT NOT NULL CHECK (metric <> ''),
    unit TEXT NOT NULL,
    encoding TEXT NOT NULL CHECK (encoding = 'delta-zigzag-leb128'),
    sample_count INTEGER NOT NULL CHECK (sample_count >= 0),
    data BLOB NOT NULL,
    PRIMARY KEY (trial_id, metric)
) STRICT;

CREATE VIEW v_runs AS
SELECT t.experiment_id, t.id AS trial_id, w.name AS workload, w.kind, w.payload_bytes,
       s.label AS state, s.spec, t.pair, t.attempt, t.pair_order, t.position, t.status, t.reason,
       t.started, t.wall_time_ns
FROM trial AS t
JOIN workload AS w ON w.id = t.workload_id
JOIN state AS s ON s.id = t.state_id;

CREATE VIEW v_lost_runs AS
SELECT experiment_id, trial_id, workload, state, pair, attempt, status, reason, started
FROM v_runs
WHERE status <> 'ok';

CREATE VIEW v_pairs AS
SELECT a.experiment_id, a.workload_id, w.name AS workload, a.pair, a.attempt,
       sa.label AS a_state, sb.label AS b_state,
       CASE WHEN a.position < b.position THEN 'AB' ELSE 'BA' END AS pair_order,
       a.id AS a_trial_id, b.id AS b_trial_id
FROM trial AS a
JOIN state AS sa ON sa.id = a.state_id
JOIN trial AS b ON b.workload_id = a.workload_id AND b.pair = a.pair AND b.attempt = a.attempt
               AND b.status = 'ok'
JOIN state AS sb ON sb.id = b.state_id AND sb.ordinal > sa.ordinal
JOIN workload AS w ON w.id = a.workload_id
WHERE a.status = 'ok';

CREATE VIEW v_pair_values AS
SELECT p.experiment_id, p.workload_id, p.workload, ma.metric, ma.unit, ma.ordinal = 1 AS headline,
       p.pair, p.pair_order, p.a_state, p.b_state, ma.value AS a, mb.value AS b,
       CASE WHEN ma.value > 0 AND mb.value > 0 THEN mb.value / ma.value - 1 END AS change
FROM v_pairs AS p
JOIN measurement AS ma ON ma.trial_id = p.a_trial_id
JOIN measurement AS mb ON mb.trial_id = p.b_trial_id AND mb.metric = ma.metric
                      AND mb.unit = ma.unit;

CREATE VIEW v_comparison_input AS
SELECT experiment_id, workload, pair, pair_order AS "order", a_state AS state, a AS value, metric,
       unit
FROM v_pair_values
WHERE a_state = 'A' AND b_state = 'B'
UNION ALL
SELECT experiment_id, workload, pair, pair_order, b_state, b, metric, unit
FROM v_pair_values
WHERE a_state = 'A' AND b_state = 'B';

CREATE VIEW v_progress AS
SELECT w.experiment_id, w.id AS workload_id, w.name AS workload, e.planned_pairs,
       (SELECT count(DISTINCT p.pair) FROM v_pairs AS p WHERE p.workload_id = w.id) AS whole_pairs,
       (SELECT count(*) FROM trial AS t WHERE t.workload_id = w.id AND t.status = 'ok') AS ok_runs,
       (SELECT count(*) FROM trial AS t WHERE t.workload_id = w.id AND t.status <> 'ok')
           AS lost_runs
FROM workload AS w
JOIN experiment AS e ON e.id = w.experiment_id;

CREATE VIEW v_experiments AS
SELECT e.id AS experiment_id, e.name, e.target, e.status, e.started, e.finished, e.planned_pairs,
       e.project_commit,
       (SELECT count(*) FROM workload AS w WHERE w.experiment_id = e.id) AS workloads,
       (SELECT group_concat(spec, ' | ')
        FROM (SELECT s.label || ': ' || s.spec AS spec FROM state AS s
              WHERE s.experiment_id = e.id ORDER BY s.ordinal)) AS states,
       (SELECT count(*) FROM trial AS t
        JOIN workload AS w ON w.id = t.workload_id
        WHERE w.experiment_id = e.id AND t.status = 'ok') AS ok_runs,
       (SELECT count(*) FROM trial AS t
        JOIN workload AS w ON w.id = t.workload_id
        WHERE w.experiment_id = e.id AND t.status <> 'ok') AS lost_runs
FROM experiment AS e;
)sql";

constexpr std::array<Migration, 1> kMigrations = {{{1, kRuns}}};

}  // namespace

std::span<const Migration> migrations() {
    return kMigrations;
}

}  // namespace vsb::datasets
