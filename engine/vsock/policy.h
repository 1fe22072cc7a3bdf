#pragma once
// What the worker does with a packet it has taken from the ring: the one interface the policies
// share. The worker loop, the queue, the locks and the counters are the same for all of them.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/vsock/receive.h"

namespace vsb::engine {

struct BatchLimits {
    std::uint32_t max_pkts = 64;
    std::uint64_t max_bytes = 65536;
};

// Takes bytes as the guest's program would, for the policy that has no socket in between.
class ByteSink {
  public:
    virtual ~ByteSink() = default;
    virtual void take(const std::byte* bytes, std::uint32_t size, Current& me) noexcept = 0;
};

class Policy {
  public:
    virtual ~Policy() = default;
    Policy() = default;
    Policy(const Policy&) = delete;
    Policy& operator=(const Policy&) = delete;

    // A well-formed packet; the policy takes it.
    virtual void receive(const Packet& packet, Current& me) noexcept = 0;
    // A packet was dropped as malformed.
    virtual void malformed(Current& me) noexcept { static_cast<void>(me); }
    // The worker found no used buffer, or leaves with some left. Nothing may be held afterwards.
    virtual void flush(BatchEnd why, Current& me) noexcept {
        static_cast<void>(why);
        static_cast<void>(me);
    }
    // [n]: ownerships that carried n packets.
    virtual std::vector<std::uint64_t> batch_sizes() const { return {}; }
};

struct PolicySettings {
    BatchLimits limits;
    ByteSink* sink = nullptr;  // noop only; without one it drops the bytes uncopied
};

std::unique_ptr<Policy> make_per_packet(ReceiveContext& ctx, const PolicySettings& settings);
std::unique_ptr<Policy> make_lock_batch(ReceiveContext& ctx, const PolicySettings& settings);
std::unique_ptr<Policy> make_coalesce_write_space(ReceiveContext& ctx,
                                                  const PolicySettings& settings);
std::unique_ptr<Policy> make_deferred_notify(ReceiveContext& ctx, const PolicySettings& settings);
std::unique_ptr<Policy> make_noop(ReceiveContext& ctx, const PolicySettings& settings);

struct PolicyEntry {
    std::string_view name;
    std::string_view summary;
    std::unique_ptr<Policy> (*make)(ReceiveContext&, const PolicySettings&);
};

// In the order they are listed; the first is the reference.
const std::vector<PolicyEntry>& policy_table();
// nullptr for a name there is not.
const PolicyEntry* find_policy(std::string_view name);

}  // namespace vsb::engine
