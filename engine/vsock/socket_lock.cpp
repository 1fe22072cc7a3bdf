#include "engine/vsock/socket_lock.h"

#include <mutex>

#include "engine/sync/virtual_time.h"

namespace vsb::engine {

bool SocketLock::lock(Current& me) noexcept {
    if (is_virtual()) charge_lock(me);
    slock_.lock();
    if (owned_) {
        ++me.counts.lock_contended;
        if (!wait_for_owner(me)) {
            slock_.unlock();
            return false;
        }
    }
    owned_ = true;
    slock_.unlock();
    ++me.counts.lock_acquisitions;
    return true;
}

// __lock_sock. Called and returns with the spinlock held.
bool SocketLock::wait_for_owner(Current& me) noexcept {
    WaitEntry entry;
    for (;;) {
        waiters_.prepare_to_wait_exclusive(entry, me.task);
        slock_.unlock();
        me.sleep();
        slock_.lock();
        if (!owned_ || me.task.interrupted()) break;
    }
    waiters_.finish_wait(entry);
    return !owned_;
}

// The lock's line moves to whoever takes it after somebody else.
void SocketLock::charge_lock(const Current& me) noexcept {
    if (last_owner_ != nullptr && last_owner_ != &me) pay(Cost::lock_handover);
    spend(Cost::lock);
    last_owner_ = &me;
}

void SocketLock::unlock(Current& me) noexcept {
    meet();
    slock_.lock();
    if (backlog_first_ != nullptr) run_backlog(me);
    owned_ = false;
    const bool sleepers = waiters_.has_sleeper();
    slock_.unlock();
    if (sleepers) me.count(waiters_.wake_up());
}

// __release_sock. Called and returns with the spinlock held; the socket stays owned meanwhile.
void SocketLock::run_backlog(Current& me) noexcept {
    while (backlog_first_ != nullptr) {
        Skb* skb = backlog_first_;
        backlog_first_ = backlog_last_ = nullptr;
        slock_.unlock();
        while (skb != nullptr) {
            Skb* next = skb->next;
            skb->next = nullptr;
            backlog_rcv_(socket_, *skb, me);
            skb = next;
        }
        slock_.lock();
    }
}

bool SocketLock::add_backlog(Skb& skb) noexcept {
    const std::scoped_lock lock(slock_);
    if (!owned_ || backlog_rcv_ == nullptr) return false;
    skb.next = nullptr;
    (backlog_last_ != nullptr ? backlog_last_->next : backlog_first_) = &skb;
    backlog_last_ = &skb;
    return true;
}

bool SocketLock::owned() noexcept {
    const std::scoped_lock lock(slock_);
    return owned_;
}

}  // namespace vsb::engine
