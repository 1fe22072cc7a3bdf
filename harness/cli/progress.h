#pragma once
// How a run is going, on stderr: one line that is written over on a terminal, one plain line a pair
// elsewhere. Estimates and widths only; no p-value is shown before a run is over.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/clock.h"
#include "harness/observer.h"
#include "stats/pair.h"

namespace vsb::cli {

struct ProgressStyle {
    bool terminal = false;
    bool color = false;
    bool quiet = false;
};

class Progress : public harness::Observer {
  public:
    // known: pairs of an earlier part, by workload, for the running change.
    Progress(ProgressStyle style, harness::Clock clock,
             std::map<std::string, std::vector<stats::Pair>> known);

    void begin(const harness::RunBegin& event) override;
    void planned(const harness::PairsPlanned& event) override;
    void trial(const datasets::TrialRecord& trial, const harness::Workload& workload) override;
    void pair(const harness::PairEnd& event) override;
    void warning(const std::string& code, const std::string& text) override;

    // Ends the line that is written over.
    void finish();

  private:
    void line(const std::string& text, bool bad);

    ProgressStyle style_;
    harness::Clock clock_;
    std::map<std::string, std::vector<stats::Pair>> pairs_;
    std::int64_t start_ns_ = 0;
    std::size_t done_before_ = 0;
    std::size_t trials_ = 0;
    bool line_open_ = false;
};

// "+12.34% [+10.00%, +14.00%]", the change so far with its 95% interval; empty with fewer than two
// pairs of each order.
std::string running_change(const std::vector<stats::Pair>& pairs);

// "0:42", "1:03:07".
std::string duration_text(std::int64_t ns);

}  // namespace vsb::cli
