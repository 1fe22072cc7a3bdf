#pragma once
// One experiment's results over time against its fixed baseline: a trend a workload, when it
// changed, and what the nightly gate says. Built night by night, rendered by the writers
// history_text.h, history_json.h, history_csv.h and history_html.h.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/paired_series.h"
#include "datasets/records.h"
#include "stats/change_points.h"
#include "stats/night_gate.h"

namespace vsb::reports {

struct HistoryOptions {
    stats::NightGateOptions gate;
    double confidence = 0.95;  // of each night's own interval
    std::string since;         // "2026-10-01" or a full time: earlier nights are not looked at
    std::optional<std::size_t> last;  // so many of the newest nights
    std::string accepted;  // changes that began before the end of this day are no alarm any more
};

// One run of the experiment: a night, whatever the hour.
struct HistoryNight {
    datasets::Id experiment = 0;
    std::string started;  // UTC, ISO 8601
    std::string commit;   // of the measured project, empty when unknown
    std::string b_spec;
};

// A workload's headline metric in one night, by the crossover t: at least two pairs of each order.
struct HistoryPoint {
    std::size_t night = 0;  // index into History::nights
    double log_ratio = 0;   // ln(B/A)
    double se = 0;          // of log_ratio; 0: no spread, so the gate cannot use this night
    double change = 0;      // B/A - 1
    stats::Interval ci;     // of change
    std::size_t pairs = 0;
};

struct HistoryWorkload {
    std::string name;
    std::string metric;
    std::string unit;
    stats::Better better = stats::Better::higher;
    std::vector<HistoryPoint> points;  // oldest first
    stats::NightVerdict gate;          // its indices count `points` that have an SE, as `usable`
    std::vector<std::size_t> usable;   // indices into points
    std::vector<stats::ChangePoint> pelt;  // over all nights; indices as the gate's
    double level = 0;                      // ln ratio since the last change of the gate
};

struct LeftOut {
    datasets::Id experiment = 0;
    std::string started;
    std::string why;
};

struct Alarm {
    enum class Kind { step, drop } kind = Kind::step;
    std::size_t workload = 0;           // index into History::workloads
    stats::Worse worse;                 // index as the gate's
    std::size_t first = 0;              // the night that began it, index into History::nights
    std::optional<std::size_t> before;  // the night before it
    // What else differs between these two nights: "kernel: 6.1.0 -> 6.2.0"; filled by the caller
    // through note_environment().
    std::vector<std::string> also;
};

struct History {
    std::string name;
    std::string target;
    std::string a_spec;
    HistoryOptions options;
    std::vector<HistoryNight> nights;
    std::vector<HistoryWorkload> workloads;
    std::vector<LeftOut> left_out;
    std::size_t before_since = 0;  // nights that --since or --last left out
    std::vector<Alarm> alarms;     // steps first, then drops, in the order of the workloads
    std::vector<stats::Warning> warnings;
};

// The history of the experiments of one name: what the newest of them measures, in all nights of
// the same target, the same A, and at least one of the same workloads (name, kind, payload, recv()
// size and writes), that came to their end. What does not belong is left out with the reason.
class HistoryBuilder {
  public:
    // `all` outlives the builder. Throws std::invalid_argument: no experiment of this name (naming
    // those there are), options out of range.
    HistoryBuilder(std::span<const datasets::ExperimentRecord> all, const std::string& name,
                   const HistoryOptions& options);

    // The nights to add, oldest first.
    const std::vector<const datasets::ExperimentRecord*>& chosen() const { return chosen_; }
    // headlines: one series a workload at most, as Store::headlines() gives them.
    void add(const datasets::ExperimentRecord& record,
             std::span<const datasets::PairedSeries> headlines);
    // Searches for change points and asks the gate.
    History finish();

  private:
    const datasets::ExperimentRecord* newest_ = nullptr;
    std::vector<const datasets::ExperimentRecord*> chosen_;
    History history_;
};

// The nights whose environments tell what else changed with an alarm.
void note_environment(Alarm& alarm, const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& after);

// "2026-11-30".
std::string date_of(const std::string& started);

// The gate's finding in one line, names raw: what, how much, when, how sure.
std::string alarm_text(const History& history, const Alarm& alarm);

// "quiet; ..." with what a quiet gate is worth, or how many workloads are worse. No names: ASCII.
std::string state_text(const History& history);

}  // namespace vsb::reports
