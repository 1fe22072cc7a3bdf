#include "engine/vsock/machine.h"

#include <algorithm>
#include <stdexcept>

#include "engine/sync/clock.h"
#include "engine/sync/virtual_time.h"

namespace vsb::engine {
namespace {

// What may be queued, what is posted, and some that are on their way between the two: a pool that
// cannot run dry while the receiver sleeps.
std::size_t pool_size(const VsockRxParameters& p, std::size_t flows) {
    return flows * ReceiveQueue::packet_limit(p.buf_alloc) + p.ring_size + 64;
}

}  // namespace

RingMemory::RingMemory(std::uint16_t size, bool event_idx)
    : memory_(Vring::bytes(size) / sizeof(Line)),
      ring_(Vring::over(memory_.front().bytes, size, event_idx)) {}

Machine::Machine(const VsockRxParameters& p, const PolicyEntry& policy, HostProgram& program,
                 const Pattern& pattern, const GuestProgram::Plan& plan,
                 std::uint32_t host_buf_alloc, bool own_device_thread)
    : Machine(p, policy, std::vector<HostProgram*>{&program}, pattern, std::span(&plan, 1),
              host_buf_alloc, own_device_thread) {}

Machine::Machine(const VsockRxParameters& p, const PolicyEntry& policy,
                 std::span<HostProgram* const> programs, const Pattern& pattern,
                 std::span<const GuestProgram::Plan> plans, std::uint32_t host_buf_alloc,
                 bool own_device_thread)
    : own_device_thread_(own_device_thread),
      irq_cost_ns_(p.irq_cost_ns),
      rx_ring_(p.ring_size, p.event_idx),
      tx_ring_(p.ring_size, p.event_idx),
      pool_(pool_size(p, programs.size()), p.rx_buf_bytes - kSharedInfoBytes),
      tx_(tx_ring_.ring(), own_device_thread ? device_bell_ : interrupt_.bell(), p.kick_cost_ns,
          p.first_index),
      ctx_{tables_, tx_, pool_} {
    setup_.owns_buffers = true;
    policy_ = policy.make(ctx_, {p.limits, plans.front().noop_discards ? nullptr : this});
    worker_ = std::make_unique<Worker>(rx_ring_.ring(), ctx_, *policy_,
                                       own_device_thread ? device_bell_ : interrupt_.bell(),
                                       p.kick_cost_ns, p.first_index);
    device_ = std::make_unique<Device>(rx_ring_.ring(), tx_ring_.ring(), tx_, interrupt_, programs,
                                       Device::Peers{kHost, kGuest, host_buf_alloc}, p.first_index);
    connect(programs.size(), p.buf_alloc, p.rcvlowat);
    for (std::size_t flow = 0; flow < programs.size(); ++flow)
        guests_.push_back(
            std::make_unique<GuestProgram>(ctx_, *sockets_[flow], pattern, plans[flow]));
}

// The handshakes, step by step on one thread: REQUEST, a child of the listener, RESPONSE.
void Machine::connect(std::size_t flows, std::uint32_t buf_alloc, std::uint32_t rcvlowat) {
    listener_ = new Socket(pool_, PacketType::stream, buf_alloc);
    listener_->local = {kAnyCid, kGuest.port};
    listener_->state = SocketState::listening;
    listener_->accept_backlog = static_cast<std::uint32_t>(flows);
    listener_->child_buf_alloc = buf_alloc;
    listener_->rcvlowat = rcvlowat;
    tables_.insert_bound(*listener_);
    worker_->fill(setup_);
    device_->connect();
    sockets_.resize(flows);
    for (std::size_t accepted = 0; accepted < flows;) {  // more than one round: a tiny ring
        device_->run(setup_);
        worker_->run(setup_);
        device_->take_transmitted(setup_);
        worker_->fill(setup_);  // the transfer begins with a full ring
        Socket* child = accept(*listener_, setup_);
        if (child == nullptr) break;
        for (; child != nullptr; child = accept(*listener_, setup_)) {
            child->hold();
            sockets_.at(child->remote.port - kHost.port) = child;
            ++accepted;
        }
    }
    if (!device_->connected() || std::ranges::count(sockets_, nullptr) != 0)
        throw std::logic_error("virtio-vsock-rx: the handshake did not complete");
    static_cast<void>(interrupt_.take());
}

Machine::~Machine() {
    Current nobody;
    guests_.clear();
    policy_.reset();
    tables_.clear(nobody);
    for (Socket* socket : sockets_)
        if (socket != nullptr) socket->put(nobody);
    if (listener_ != nullptr) listener_->put(nobody);
}

void Machine::run_worker(Current& me) noexcept {
    while (!me.task.interrupted()) {
        bool progress = false;
        if (!own_device_thread_) {
            const std::uint64_t before = now_ns();
            progress = device_->run(me);
            device_ns_ += now_ns() - before;
            if (device_->closed()) return;
        } else if (device_ended_.load(std::memory_order_seq_cst)) {
            return;
        }
        if (interrupt_.take()) {
            charge(irq_cost_ns_);
            spend(Cost::interrupt);
        }
        if (worker_->pending()) {
            worker_->run(me);
            progress = true;
        }
        if (progress) continue;
        if (!own_device_thread_ && device_->enable_notify()) {
            device_->disable_notify();
            continue;
        }
        me.counts.sleeps += interrupt_.bell().wait(me.task) ? 1 : 0;
        if (!own_device_thread_) device_->disable_notify();
    }
}

void Machine::run_device(Current& me) noexcept {
    while (!me.task.interrupted() && !device_->closed()) {
        if (device_->run(me)) continue;
        if (!device_->enable_notify()) device_bell_.wait(me.task);
        device_->disable_notify();
    }
    device_ended_.store(true, std::memory_order_seq_cst);
    interrupt_.bell().ring();
}

}  // namespace vsb::engine
