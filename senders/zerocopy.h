#pragma once
// MSG_ZEROCOPY on one socket: switched on, and its completions read from the error queue and
// counted (Documentation/networking/msg_zerocopy.rst). Every successful send() has one completion,
// told in ranges.

#include <cstdint>
#include <string>

#include "transport/calls.h"

namespace vsb::senders {

class Zerocopy {
  public:
    // Throws Unavailable when the socket has no MSG_ZEROCOPY.
    Zerocopy(transport::Calls& calls, int fd, std::string peer);

    // Reads the completions that are there; never waits.
    void reap();
    // Waits until `sends` are complete. Throws Failure at the deadline.
    void await(std::uint64_t sends, std::uint64_t deadline_ns);
    // For ENOBUFS: waits for a completion, 50 ms at most.
    void wait_for_some();

    std::uint64_t completed() const { return completed_; }
    std::uint64_t copied() const { return copied_; }  // of completed: the kernel copied after all

  private:
    bool reap_one();
    transport::Calls& calls_;
    int fd_;
    std::string peer_;
    std::uint64_t completed_ = 0;
    std::uint64_t copied_ = 0;
};

}  // namespace vsb::senders
