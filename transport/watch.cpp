#include "transport/watch.h"

#include <cstdio>

#include "transport/rate.h"

namespace vsb::transport {

Watch::Watch(Calls& calls, WatchPlan plan, std::span<Progress> progress, ControlChannel* control,
             IntervalSink sink)
    : calls_(calls),
      plan_(std::move(plan)),
      progress_(progress),
      control_(control),
      sink_(std::move(sink)) {}

void Watch::start() {
    started_ns_ = last_change_ns_ = interval_ns_ = calls_.now_ns();
    last_bytes_ = interval_bytes_ = 0;
}

bool Watch::look() {
    if (failure_) return false;
    const std::uint64_t now = calls_.now_ns();
    std::uint64_t bytes = 0;
    for (const Progress& one : progress_)
        bytes += one.bytes.load(std::memory_order_relaxed);
    if (bytes != last_bytes_) {
        last_bytes_ = bytes;
        last_change_ns_ = now;
    }
    if (plan_.interval_ns != 0 && now - interval_ns_ >= plan_.interval_ns) {
        if (const auto rate = gbit_per_s(bytes - interval_bytes_, now - interval_ns_)) {
            intervals_.push_back(*rate);
            if (sink_) sink_(static_cast<double>(now - started_ns_) / 1e9, *rate);
        }
        interval_ns_ = now;
        interval_bytes_ = bytes;
    }
    if (control_ != nullptr) {
        if (auto trouble = control_->trouble()) {
            failure_ = std::move(trouble);
            return false;
        }
    }
    if (plan_.stall_ns != 0 && now - last_change_ns_ >= plan_.stall_ns) {
        char text[80];
        std::snprintf(text, sizeof text, "no byte moved for %.1f s after %llu bytes; peer: ",
                      static_cast<double>(now - last_change_ns_) / 1e9,
                      static_cast<unsigned long long>(bytes));
        failure_ = text + plan_.peer;
        return false;
    }
    return plan_.duration_ns == 0 || now - started_ns_ < plan_.duration_ns;
}

}  // namespace vsb::transport
