#include "engine/vsock/worker.h"

#include "engine/sync/clock.h"
#include "engine/sync/virtual_time.h"

namespace vsb::engine {

Worker::Worker(Vring ring, ReceiveContext& ctx, Policy& policy, Doorbell& kick,
               std::uint64_t kick_cost_ns, std::uint16_t first_index)
    : rx_(ring, first_index),
      ctx_(ctx),
      policy_(policy),
      kick_(kick),
      kick_cost_ns_(kick_cost_ns),
      ring_size_(ring.size) {}

Worker::~Worker() {
    Current nobody;
    nobody.owns_buffers = true;
    rx_.for_each_outstanding(
        [&](void* token) { ctx_.pool.free(*static_cast<Skb*>(token), nobody); });
}

void Worker::fill(Current& me) noexcept {
    ++me.counts.refills;
    while (rx_.free_entries() != 0) {
        Skb* skb = ctx_.pool.take();
        if (skb == nullptr) {
            ++me.counts.refill_failures;
            break;
        }
        spend(Cost::post_buffer);
        rx_.add(skb, skb->head, skb->buffer_len, true);
        ++posted_;
    }
    if (!rx_.kick_prepare()) return;
    ++me.counts.kicks;
    charge(kick_cost_ns_);
    spend(Cost::kick);
    me.count(kick_.ring());
}

void Worker::receive(Skb& skb, std::uint32_t used_len, Current& me) noexcept {
    pay(Cost::packet);
    if (used_len < kHeaderBytes || used_len > skb.buffer_len) {
        ++(used_len < kHeaderBytes ? me.counts.drops_short : me.counts.drops_over_long);
        ctx_.pool.free(skb, me);
        policy_.malformed(me);
        return;
    }
    const Packet packet{&skb, decode(skb.head)};
    if (packet.header.len > used_len - kHeaderBytes) {
        ++me.counts.drops_bad_length;
        ctx_.pool.free(skb, me);
        policy_.malformed(me);
        return;
    }
    skb.len = packet.header.len;
    ++me.counts.packets;
    me.counts.payload_bytes += packet.header.len;
    policy_.receive(packet, me);
}

void Worker::run(Current& me) noexcept {
    ++me.counts.worker_runs;
    BatchEnd why = BatchEnd::ring_empty;
    do {
        rx_.disable_cb();
        for (;;) {
            if (!ctx_.tx.more_replies()) {
                why = BatchEnd::worker_return;
                break;
            }
            std::uint32_t used_len = 0;
            meet();
            auto* skb = static_cast<Skb*>(rx_.get_buf(used_len));
            if (skb == nullptr) break;
            --posted_;
            receive(*skb, used_len, me);
        }
        // Nothing may be held when callbacks come on: the next packet may be long in coming.
        policy_.flush(why, me);
    } while (why == BatchEnd::ring_empty && !rx_.enable_cb() && !me.task.interrupted());
    if (posted_ < ring_size_ / 2 || posted_ == 0) fill(me);
}

}  // namespace vsb::engine
