#pragma once
// The control channel between a tool and its peer: lines `VERB key=value ...` over a connection of
// its own, each awaited until a deadline. Verbs: PLAN, READY, GO, DONE, and FAIL reason=... at any
// time. Values hold no blanks, but for FAIL's reason, which is the rest of the line.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transport/calls.h"
#include "transport/descriptor.h"
#include "transport/fields.h"

namespace vsb::transport {

struct ControlMessage {
    std::string verb;
    Fields fields;
};

// Throws std::invalid_argument. The line is without its newline.
ControlMessage parse_message(std::string_view line);
std::string format_message(const ControlMessage& message);  // with its newline

class ControlChannel {
  public:
    // `peer`: how errors name the other side, "the receiver at unix:/x".
    ControlChannel(Calls& calls, Descriptor socket, std::string peer);

    // Throws std::system_error, or Failure at the deadline.
    void send(const ControlMessage& message, std::uint64_t deadline_ns);

    // The next message, which must be `verb`. Throws Failure naming the peer: it said FAIL, left,
    // said something else, or the deadline passed.
    ControlMessage expect(std::string_view verb, std::uint64_t deadline_ns);

    // Says FAIL; never throws, for use while another error is on its way.
    void fail(std::string_view reason) noexcept;

    // Without waiting: why there is no use in going on (the peer said FAIL, or left before a DONE
    // that is not read yet). nullopt: all is well.
    std::optional<std::string> trouble();

    const std::string& peer() const { return peer_; }

  private:
    enum class Fill : std::uint8_t { data, nothing, closed };
    Fill fill(int flags);
    std::optional<std::string> next_line();

    Calls& calls_;
    Descriptor socket_;
    std::string peer_;
    std::string buffer_;
    bool closed_ = false;
};

}  // namespace vsb::transport
