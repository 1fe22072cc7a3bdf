#pragma once
// The store's rows as plain structs. Times are UTC in ISO 8601 with a Z; durations in ns.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/paired_series.h"

namespace vsb::datasets {

using Id = std::int64_t;

enum class ExperimentStatus : std::uint8_t { running, finished, failed, interrupted };
enum class TrialStatus : std::uint8_t { ok, failed, invalid, interrupted };

struct StateRecord {
    Id id = 0;
    std::string label;  // "A", "B"; more for a cumulative series
    std::string spec;   // as given: "policy=lock-batch,max-pkts=64"
};

struct WorkloadRecord {
    Id id = 0;
    std::string name;  // "fixed/64B"
    std::string kind;  // fixed | matched | rtt | cycles | ...
    std::int64_t payload_bytes = 0;
    std::int64_t recv_bytes = 0;  // 0 where there is none
    std::int64_t writes = 0;      // writes, packets, datagrams or rtt requests of one trial
};

struct NewExperiment {
    std::string name;
    std::string target;  // engine | host | guest | fake | model | import
    std::uint64_t seed = 0;
    std::int64_t pairs = 0;  // planned pairs of each workload
    std::string config;      // the experiment as given, TOML with every key set
    std::string tool_version;
    std::string project_commit;             // of the measured project, empty when unknown
    std::vector<StateRecord> states;        // ids are filled in by the store
    std::vector<WorkloadRecord> workloads;  // likewise
    std::map<std::string, std::string> environment;
};

struct ExperimentRecord : NewExperiment {
    Id id = 0;
    std::string uuid;
    std::string started;
    std::string finished;  // empty while not
    ExperimentStatus status = ExperimentStatus::running;
};

struct Measurement {
    std::string metric;
    std::string unit;
    double value = 0;  // finite
};

// Raw samples of one trial, in the order taken ("rtt", "ns").
struct SampleBlock {
    std::string metric;
    std::string unit;
    std::vector<std::uint64_t> values;
};

struct TrialRecord {
    Id id = 0;
    Id workload_id = 0;
    Id state_id = 0;
    std::int64_t pair = 0;                 // 1-based
    PairOrder pair_order = PairOrder::ab;  // of its pair
    int position = 0;                      // 1: first of its pair, 2: second
    std::int64_t attempt = 1;              // which try at this pair (resume makes a second one)
    TrialStatus status = TrialStatus::ok;
    std::string reason;  // why not ok; empty when ok
    std::string started;
    std::int64_t wall_time_ns = 0;
    std::vector<Measurement> measurements;
    std::vector<SampleBlock> samples;
};

}  // namespace vsb::datasets
