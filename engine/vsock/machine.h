#pragma once
// One guest with its device, wired up and connected: what a trial runs on threads of its own and a
// test drives step by step. It has a connection, a socket and a guest's program for each of the
// host's programs, numbered alike.

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/vsock/device.h"
#include "engine/vsock/guest_program.h"
#include "engine/vsock/parameters.h"
#include "engine/vsock/worker.h"

namespace vsb::engine {

// Ring memory, zeroed, on cache lines of its own.
class RingMemory {
  public:
    RingMemory(std::uint16_t size, bool event_idx);
    Vring& ring() noexcept { return ring_; }

  private:
    struct alignas(64) Line {
        std::byte bytes[64] = {};
    };
    std::vector<Line> memory_;
    Vring ring_;
};

class Machine final : private ByteSink {
  public:
    static constexpr Address kHost{2, 1024};  // VMADDR_CID_HOST; of the first connection
    static constexpr Address kGuest{3, 9999};

    // `program` and `pattern` outlive the machine. `own_device_thread`: the device sleeps on a
    // doorbell of its own. Throws std::system_error when memory cannot be had.
    Machine(const VsockRxParameters& parameters, const PolicyEntry& policy, HostProgram& program,
            const Pattern& pattern, const GuestProgram::Plan& plan, std::uint32_t host_buf_alloc,
            bool own_device_thread);
    // Several connections: `programs` and `plans` are of one length, at least 1.
    Machine(const VsockRxParameters& parameters, const PolicyEntry& policy,
            std::span<HostProgram* const> programs, const Pattern& pattern,
            std::span<const GuestProgram::Plan> plans, std::uint32_t host_buf_alloc,
            bool own_device_thread);
    ~Machine() override;
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    // Worker thread; runs the device as well unless that has a thread. Ends when the device has
    // closed or the task is interrupted.
    void run_worker(Current& me) noexcept;
    void run_device(Current& me) noexcept;

    Device& device() noexcept { return *device_; }
    Worker& worker() noexcept { return *worker_; }
    Policy& policy() noexcept { return *policy_; }
    std::size_t flows() const noexcept { return sockets_.size(); }
    GuestProgram& guest(std::size_t flow = 0) noexcept { return *guests_[flow]; }
    Socket& socket(std::size_t flow = 0) noexcept { return *sockets_[flow]; }
    ReceiveContext& context() noexcept { return ctx_; }
    std::uint64_t inline_device_ns() const noexcept { return device_ns_; }
    const Counters& setup_counts() const noexcept { return setup_.counts; }

  private:
    void connect(std::size_t flows, std::uint32_t buf_alloc, std::uint32_t rcvlowat);
    void take(const std::byte* bytes, std::uint32_t size, Current& me) noexcept override {
        guests_.front()->take(bytes, size, me);  // noop: there is one
    }

    const bool own_device_thread_;
    const std::uint64_t irq_cost_ns_;
    Current setup_;
    RingMemory rx_ring_;
    RingMemory tx_ring_;
    SkbPool pool_;
    SocketTables tables_;
    InterruptLine interrupt_;
    Doorbell device_bell_;
    std::atomic<bool> device_ended_{false};
    TransmitPath tx_;
    ReceiveContext ctx_;
    Socket* listener_ = nullptr;
    std::vector<Socket*> sockets_;
    std::vector<std::unique_ptr<GuestProgram>> guests_;
    std::unique_ptr<Policy> policy_;
    std::unique_ptr<Worker> worker_;
    std::unique_ptr<Device> device_;
    std::uint64_t device_ns_ = 0;
};

}  // namespace vsb::engine
