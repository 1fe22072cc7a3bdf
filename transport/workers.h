#pragma once
// Runs the same loop once, on the calling thread, or several times at once, each on a thread of its
// own, and keeps a watch over it.
//
// One worker runs on the calling thread, so that the process stays single-threaded and its system
// calls cost what they cost in any plain program; a Ticker interrupts it for the watch.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "transport/progress.h"
#include "transport/watch.h"

namespace vsb::transport {

struct WorkerPlan {
    unsigned workers = 1;
    std::vector<int> cpus;  // worker i is pinned to cpus[i mod size]; empty: not pinned
    // Makes every loop's blocking call return (shuts the sockets down). May be called many times.
    std::function<void()> interrupt;
};

// What a loop does at Attention: returns false when it has to leave.
class Attend {
  public:
    Attend(Progress& progress, Watch* watch) : progress_(progress), watch_(watch) {}
    bool operator()() const;

  private:
    Progress& progress_;
    Watch* watch_;  // of the only worker; null when another thread keeps the watch
};

// body(i, progress, attend) is worker i. Returns when all have ended; the first exception of a
// worker is thrown again, or Failure with the watch's reason.
using WorkerBody = std::function<void(unsigned index, Progress& progress, const Attend& attend)>;
void run_workers(const WorkerPlan& plan, std::span<Progress> progress, Watch& watch,
                 const WorkerBody& body);

}  // namespace vsb::transport
