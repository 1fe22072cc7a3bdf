#include "transport/ticker.h"

#include <sys/time.h>

#include <cerrno>
#include <csignal>

#include "transport/errors.h"

namespace vsb::transport {
namespace {

std::atomic<Progress*> ticked{nullptr};
struct sigaction previous {};

void on_tick(int) {
    if (Progress* progress = ticked.load(std::memory_order_relaxed)) {
        Attention none = Attention::none;
        progress->attention.compare_exchange_strong(none, Attention::look);
    }
}

void set_timer(std::uint64_t period_ns) {
    const auto us = static_cast<long>(period_ns / 1000);
    itimerval timer{};
    timer.it_interval = {us / 1000000, us % 1000000};
    timer.it_value = timer.it_interval;
    ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

Ticker::Ticker(Progress& progress, std::uint64_t period_ns) {
    ticked = &progress;
    struct sigaction action {};
    action.sa_handler = on_tick;
    ::sigemptyset(&action.sa_mask);
    if (::sigaction(SIGALRM, &action, &previous) < 0) throw_errno(errno, "catching SIGALRM");
    set_timer(period_ns);
}

Ticker::~Ticker() {
    set_timer(0);
    ::sigaction(SIGALRM, &previous, nullptr);
    ticked = nullptr;
}

}  // namespace vsb::transport
