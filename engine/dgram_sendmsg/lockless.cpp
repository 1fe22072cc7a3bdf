#include <atomic>
#include <new>

#include "engine/dgram_sendmsg/grace_period.h"
#include "engine/dgram_sendmsg/record_pointer.h"
#include "engine/dgram_sendmsg/send.h"
#include "engine/vsock/socket_lock.h"

namespace vsb::engine::dgram_sendmsg {
namespace {

class LocklessSend final : public Send {
  public:
    LocklessSend(const Remote& remote, Ports& ports, std::size_t senders)
        : grace_(senders), remote_(grace_, std::make_unique<const Remote>(remote)), ports_(ports) {}

    bool send(const Message& message, Current& me) noexcept override {
        // Once bound, a socket stays bound to the same address: no lock to read it.
        if (!bound_.load(std::memory_order_acquire) && !auto_bind(me)) return false;
        Remote remote;
        {
            // Only the copy: the enqueue may sleep, and the transport outlives the socket.
            const ReadSection section(grace_, message.sender);
            remote = *remote_.load();
        }
        return remote.transport->dgram_enqueue(local_, remote.address, message, me);
    }

    bool connect(const Remote& remote, Current& me) noexcept override {
        std::unique_ptr<const Remote> record(new (std::nothrow) Remote(remote));
        if (record == nullptr || !lock_.lock(me)) return false;
        bind_locked();
        remote_.replace(std::move(record));
        ++counts_.records_replaced;
        lock_.unlock(me);
        return true;
    }

    SendCounts counts() noexcept override {
        grace_.synchronize();
        counts_.records_freed = grace_.freed();
        counts_.most_records_waiting = grace_.most_waiting();
        return counts_;
    }

  private:
    bool auto_bind(Current& me) noexcept {
        if (!lock_.lock(me)) return false;
        bind_locked();
        lock_.unlock(me);
        return true;
    }

    void bind_locked() noexcept {
        // Looked at again: many senders may have found the socket unbound.
        if (bound_.load(std::memory_order_relaxed)) return;
        local_.port = ports_.allocate();
        ++counts_.auto_binds;
        bound_.store(true, std::memory_order_release);
    }

    SocketLock lock_;  // binding and connecting only
    GracePeriods grace_;
    RecordPointer<Remote, GracePeriods> remote_;
    alignas(64) std::atomic<bool> bound_{false};
    Address local_{kCidLocal, kPortAny};  // written once, before bound_
    Ports& ports_;
    SendCounts counts_;  // guarded by lock_
};

}  // namespace

std::unique_ptr<Send> make_lockless(const Remote& remote, Ports& ports, std::size_t senders) {
    return std::make_unique<LocklessSend>(remote, ports, senders);
}

}  // namespace vsb::engine::dgram_sendmsg
