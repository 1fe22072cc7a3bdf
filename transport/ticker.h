#pragma once
// Wakes the calling thread's blocking calls with EINTR at a fixed pace (SIGALRM without
// SA_RESTART), so that one thread can sit in a plain recv() or send() and still keep deadlines. One
// at a time in a process; other threads must block SIGALRM.

#include <cstdint>

#include "transport/progress.h"

namespace vsb::transport {

class Ticker {
  public:
    // At every tick progress.attention becomes `look`, unless it is `stop`.
    Ticker(Progress& progress, std::uint64_t period_ns);
    ~Ticker();
    Ticker(const Ticker&) = delete;
    Ticker& operator=(const Ticker&) = delete;
};

}  // namespace vsb::transport
