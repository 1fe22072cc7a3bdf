#pragma once
// The system calls of the guest's program: recv(), send(), accept(), shutdown and close.

#include <cstddef>
#include <cstdint>

#include "engine/vsock/receive.h"

namespace vsb::engine {

enum class RecvStatus : std::uint8_t {
    data,
    end_of_stream,  // 0 bytes: the peer will send no more
    would_block,
    interrupted,
};

struct Received {
    RecvStatus status = RecvStatus::data;
    std::uint32_t bytes = 0;
    std::uint32_t message_bytes = 0;  // SEQPACKET: longer than `bytes` if truncated
    bool end_of_record = false;
};

// vsock_connectible_recvmsg on a STREAM socket: returns when min(SO_RCVLOWAT, size) bytes are
// queued, with all that is there up to `size`, or with what is left when the peer has finished.
// Departure: the kernel takes out what is there and sleeps for the rest of SO_RCVLOWAT, and may
// then sleep beyond it, since a wake looks only at what is queued. Here nothing is taken before
// the mark is reached, so that a wake is never missed; with the default mark of 1 it is the same.
// A caller with SO_RCVLOWAT > `size` is woken at SO_RCVLOWAT, as in the kernel.
Received recv_stream(ReceiveContext& ctx, Socket& sk, std::byte* to, std::uint32_t size,
                     bool dont_wait, Current& me) noexcept;

// The same on a SEQPACKET socket: one message a call.
Received recv_message(ReceiveContext& ctx, Socket& sk, std::byte* to, std::uint32_t size,
                      bool dont_wait, Current& me) noexcept;

// vsock_connectible_sendmsg on a STREAM socket: sends all of it, sleeping for the peer's credit.
// False if the connection ended or the task was interrupted first.
bool send_all(ReceiveContext& ctx, Socket& sk, const std::byte* from, std::uint64_t size,
              Current& me) noexcept;

// accept() without sleeping: the oldest child or nullptr; its reference is the caller's.
Socket* accept(Socket& listener, Current& me) noexcept;

// close(): virtio_transport_release. After the peer's SHUTDOWN it answers with RST, else it sends
// SHUTDOWN; then it drops the caller's reference and the connected table's. Left out: SO_LINGER,
// the wait for the peer's answer.
void close(ReceiveContext& ctx, Socket& sk, Current& me) noexcept;

}  // namespace vsb::engine
