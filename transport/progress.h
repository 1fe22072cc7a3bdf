#pragma once
// What a worker's loop shares with whoever watches it: the bytes so far, and a call for attention.
// One worker writes bytes, anyone may read them; anyone writes attention.

#include <atomic>
#include <cstdint>

namespace vsb::transport {

enum class Attention : int {
    none,
    look,  // call the watch between two calls of the loop
    stop,  // leave the loop
};

struct alignas(64) Progress {
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<Attention> attention{Attention::none};
};

}  // namespace vsb::transport
