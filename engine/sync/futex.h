#pragma once
// The futex system call, nothing around it. Source: futex(2).

#include <atomic>
#include <cstdint>

namespace vsb::engine {

// Sleeps while `word` holds `expected`; returns at a wake, at once when it holds something else,
// and spuriously. `timeout_ns` 0: no limit.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::uint64_t timeout_ns = 0) noexcept;
void futex_wake(std::atomic<std::uint32_t>& word, int how_many) noexcept;

}  // namespace vsb::engine
