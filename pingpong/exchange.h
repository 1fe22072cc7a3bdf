#pragma once
// Requests and replies of a fixed size over one socket, on both sides.

#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/calls.h"
#include "transport/endpoint.h"
#include "transport/workers.h"

namespace vsb::pingpong {

class Exchange {
  public:
    Exchange(transport::Calls& calls, int fd, transport::Kind kind, bool busy_poll,
             std::string peer, transport::Progress& progress, const transport::Attend& attend);

    // All of it. Throws std::system_error naming the peer; Failure when told to stop.
    void send(const std::byte* data, std::size_t size);

    // Exactly `size` bytes, or one message of `size`. False: the peer ended the stream before the
    // first byte. Throws as send(), and Failure for a short or long message and for an end in the
    // middle.
    bool receive(std::byte* data, std::size_t size);

  private:
    void pause(std::size_t done, std::size_t size, const char* what);
    transport::Calls& calls_;
    int fd_;
    transport::Kind kind_;
    bool busy_poll_;
    std::string peer_;
    transport::Progress& progress_;
    const transport::Attend& attend_;
};

}  // namespace vsb::pingpong
