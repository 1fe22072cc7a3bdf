#pragma once
// Everything the system counts. Outcome::counts holds, in this order (meanings in counters.cpp):
//
//   packets payload_bytes recv_calls connected_lookups bound_lookups lock_acquisitions
//   lock_contended receiver_lock_acquisitions receiver_lock_contended write_space_notifications
//   data_ready_notifications state_change_notifications wakeups wake_system_calls
//   receiver_wakeups receiver_wake_system_calls worker_sleeps receiver_sleeps batches
//   batched_packets used_publications interrupts kicks worker_runs refills refill_failures
//   merged_packets collapses collapsed_packets credit_updates credit_waits resets drops_short
//   drops_over_long drops_bad_length drops_receive_limit drops_no_socket drops_closed
//   batch_end_REASON, for each reason of batch_end.h
//
// Each thread has its own set, so that counting never shares a
// cache line; counter_table() names them and says which threads' counts make up each figure.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/vsock/batch_end.h"

namespace vsb::engine {

struct alignas(64) Counters {
    std::uint64_t packets = 0;
    std::uint64_t payload_bytes = 0;
    std::uint64_t recv_calls = 0;
    std::uint64_t connected_lookups = 0;
    std::uint64_t bound_lookups = 0;
    std::uint64_t lock_acquisitions = 0;
    std::uint64_t lock_contended = 0;
    std::uint64_t write_space_notifications = 0;
    std::uint64_t data_ready_notifications = 0;
    std::uint64_t state_change_notifications = 0;
    std::uint64_t wakeups = 0;
    std::uint64_t wake_system_calls = 0;
    std::uint64_t sleeps = 0;
    std::uint64_t batches = 0;
    std::uint64_t batched_packets = 0;
    std::array<std::uint64_t, kBatchEnds> batch_ends{};
    std::uint64_t used_publications = 0;
    std::uint64_t interrupts = 0;
    std::uint64_t kicks = 0;
    std::uint64_t worker_runs = 0;
    std::uint64_t refills = 0;
    std::uint64_t refill_failures = 0;
    std::uint64_t merged_packets = 0;
    std::uint64_t collapses = 0;
    std::uint64_t collapsed_packets = 0;
    std::uint64_t credit_updates = 0;
    std::uint64_t credit_waits = 0;
    std::uint64_t resets = 0;
    std::uint64_t drops_short = 0;
    std::uint64_t drops_over_long = 0;
    std::uint64_t drops_bad_length = 0;
    std::uint64_t drops_receive_limit = 0;
    std::uint64_t drops_no_socket = 0;
    std::uint64_t drops_closed = 0;
};

// The threads whose counts a figure sums.
enum class Counted : std::uint8_t { everywhere, by_worker, by_receiver };

struct CounterInfo {
    std::string_view name;
    std::string_view meaning;
    Counted where;
    std::uint64_t Counters::*member;
};

// In the order of Outcome::counts; the batch_end_<reason> counters follow them.
std::span<const CounterInfo> counter_table();

}  // namespace vsb::engine
