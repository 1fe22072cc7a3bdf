#pragma once
// Options of the history and of its gate, read the same way by `history` and `nightly`.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "datasets/store.h"
#include "reports/history.h"

namespace vsb::cli {

struct HistoryFlags {
    std::string since;
    std::string last;
    std::string accepted;
    std::string margin;
    std::string level;
    std::string look_back;
    std::string window;
    void add_to(CLI::App& app);
    reports::HistoryOptions parsed() const;  // throws Failure (2) naming the option
};

// What a gate on a history fails on.
struct HistoryGate {
    bool step = false;
    bool drop = false;
};

// One line for each alarm that the gate fails on, and one when there was nothing to judge: a gate
// that measured nothing has not passed.
std::vector<std::string> history_failures(const reports::History& history, const HistoryGate& gate);

// The history of one name in the store, alarms with what else changed then.
reports::History recorded_history(const datasets::Store& store, const std::string& name,
                                  const reports::HistoryOptions& options);

// A page with its plots drawn by gnuplot, where there is one.
std::string history_page(const reports::History& history);

}  // namespace vsb::cli
