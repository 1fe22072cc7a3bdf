#include "engine/vsock/policy.h"

namespace vsb::engine {

const std::vector<PolicyEntry>& policy_table() {
    static const std::vector<PolicyEntry> table{
        {"per-packet", "look up, lock, notify and release for every packet (the baseline)",
         &make_per_packet},
        {"lock-batch", "one look-up and one lock for a batch of packets of one socket",
         &make_lock_batch},
        {"coalesce-write-space", "lock-batch, with one write-space notification a batch",
         &make_coalesce_write_space},
        {"deferred-notify",
         "coalesce-write-space, with both notifications after the lock is released",
         &make_deferred_notify},
        {"noop", "no look-up, lock or notification: the floor", &make_noop},
    };
    return table;
}

const PolicyEntry* find_policy(std::string_view name) {
    for (const auto& entry : policy_table())
        if (entry.name == name) return &entry;
    return nullptr;
}

}  // namespace vsb::engine
