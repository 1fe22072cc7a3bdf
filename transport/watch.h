#pragma once
// Keeps a trial's deadlines while its loops run: a peer that left or failed, no progress for too
// long, the end of a timed run, the figures of an interval. Called some times a second; never on
// the hot path.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/calls.h"
#include "transport/control.h"
#include "transport/progress.h"

namespace vsb::transport {

struct WatchPlan {
    std::uint64_t stall_ns = 0;     // 0: no limit
    std::uint64_t duration_ns = 0;  // 0: until the work is done
    std::uint64_t interval_ns = 0;  // 0: no interval figures
    std::string peer;               // named when the trial stalls
};

class Watch {
  public:
    // Called with what an interval carried: seconds since the start, Gbit/s of the interval.
    using IntervalSink = std::function<void(double at_s, double gbit_s)>;

    // `control` may be null. Everything referred to must outlive the watch.
    Watch(Calls& calls, WatchPlan plan, std::span<Progress> progress, ControlChannel* control,
          IntervalSink sink = {});

    // The clock starts now.
    void start();
    // False: leave the loops; see failure().
    bool look();
    // Whether the plan has moments to meet (a duration, intervals): then look() is wanted every
    // 50 ms; else a few times a second will do.
    bool keeps_time() const { return plan_.duration_ns != 0 || plan_.interval_ns != 0; }
    // Why the trial failed; nullopt when it did not.
    const std::optional<std::string>& failure() const { return failure_; }
    const std::vector<double>& intervals_gbit_s() const { return intervals_; }

  private:
    Calls& calls_;
    WatchPlan plan_;
    std::span<Progress> progress_;
    ControlChannel* control_;
    IntervalSink sink_;
    std::uint64_t started_ns_ = 0;
    std::uint64_t last_bytes_ = 0;
    std::uint64_t last_change_ns_ = 0;
    std::uint64_t interval_bytes_ = 0;
    std::uint64_t interval_ns_ = 0;
    std::optional<std::string> failure_;
    std::vector<double> intervals_;
};

}  // namespace vsb::transport
