#pragma once
// lock_sock / release_sock: a spinlock held briefly, an owner flag held long, waiters that sleep
// (they do not spin first), and a backlog for packets that arrive while the socket is owned.
//
// Departure: the kernel wakes the next owner inside the spinlock; here that is a system call, so it
// comes after it.

#include "engine/sync/spinlock.h"
#include "engine/sync/wait_queue.h"
#include "engine/vsock/current.h"
#include "engine/vsock/skb.h"

namespace vsb::engine {

class SocketLock {
  public:
    // sk_backlog_rcv: called by the owner on its way out, without the spinlock. Takes the packet.
    using BacklogRcv = void (*)(void* socket, Skb& skb, Current& me) noexcept;

    // lock_sock. False only if the task was interrupted before it got the lock (the kernel waits
    // uninterruptibly; a trial that is given up must end).
    [[nodiscard]] bool lock(Current& me) noexcept;
    // release_sock: runs the backlog, gives up ownership, wakes one waiter.
    void unlock(Current& me) noexcept;

    // bh_lock_sock with sk_add_backlog: true if the socket is owned and the packet was left for
    // the owner, false if the caller has to process it under a lock of its own.
    bool add_backlog(Skb& skb) noexcept;
    void set_backlog_rcv(BacklogRcv function, void* socket) noexcept {
        backlog_rcv_ = function;
        socket_ = socket;
    }

    bool owned() noexcept;

  private:
    bool wait_for_owner(Current& me) noexcept;
    void run_backlog(Current& me) noexcept;
    void charge_lock(const Current& me) noexcept;

    Spinlock slock_;
    bool owned_ = false;
    Skb* backlog_first_ = nullptr;
    Skb* backlog_last_ = nullptr;
    WaitQueue waiters_;
    BacklogRcv backlog_rcv_ = nullptr;
    void* socket_ = nullptr;
    const void* last_owner_ = nullptr;  // kept under the virtual clock only
};

}  // namespace vsb::engine
