#pragma once
// The sending half of struct virtio_vsock_sock, under tx_lock; the host's side of a connection
// uses the same arithmetic.

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "engine/sync/spinlock.h"

namespace vsb::engine {

// What a sender may still send: VIRTIO 1.2, 5.10.6.3. Never below 0, also when a peer shrinks its
// buffer below what is under way. virtio_transport_has_space.
constexpr std::uint32_t credit_left(std::uint32_t peer_buf_alloc, std::uint32_t tx_cnt,
                                    std::uint32_t peer_fwd_cnt) noexcept {
    const std::uint32_t under_way = tx_cnt - peer_fwd_cnt;
    return under_way >= peer_buf_alloc ? 0 : peer_buf_alloc - under_way;
}

class TransmitCredit {
  public:
    // virtio_transport_space_update: takes the peer's view from a header; true if writers have
    // room.
    bool update(std::uint32_t peer_buf_alloc, std::uint32_t peer_fwd_cnt) noexcept {
        const std::scoped_lock lock(tx_lock_);
        peer_buf_alloc_ = peer_buf_alloc;
        peer_fwd_cnt_ = peer_fwd_cnt;
        return left() > 0;
    }
    // virtio_transport_get_credit: takes up to `wanted` bytes of credit.
    std::uint32_t take(std::uint32_t wanted) noexcept {
        const std::scoped_lock lock(tx_lock_);
        const std::uint32_t taken = std::min(wanted, left());
        tx_cnt_ += taken;
        return taken;
    }
    std::uint32_t space() noexcept {
        const std::scoped_lock lock(tx_lock_);
        return left();
    }

  private:
    std::uint32_t left() const noexcept {
        return credit_left(peer_buf_alloc_, tx_cnt_, peer_fwd_cnt_);
    }

    Spinlock tx_lock_;
    std::uint32_t tx_cnt_ = 0;
    std::uint32_t peer_fwd_cnt_ = 0;
    std::uint32_t peer_buf_alloc_ = 0;
};

}  // namespace vsb::engine
