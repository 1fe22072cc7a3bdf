#include "engine/dgram_sendmsg/grace_period.h"

#include <algorithm>

#include "engine/sync/spinlock.h"

namespace vsb::engine::dgram_sendmsg {
namespace {

// How many may gather before the slots are looked at: a look touches every reader's line.
constexpr std::size_t kLookEvery = 64;

}  // namespace

GracePeriods::GracePeriods(std::size_t readers)
    : readers_(readers), slots_(std::make_unique<Slot[]>(readers)) {
    waiting_.reserve(kMostWaiting);
}

GracePeriods::~GracePeriods() {
    synchronize();
}

std::uint64_t GracePeriods::oldest_reader() const noexcept {
    std::uint64_t oldest = UINT64_MAX;
    for (std::size_t i = 0; i < readers_; ++i) {
        const std::uint64_t epoch = slots_[i].epoch.load(std::memory_order_seq_cst);
        if (epoch != 0) oldest = std::min(oldest, epoch);
    }
    return oldest;
}

void GracePeriods::free_passed() noexcept {
    const std::uint64_t oldest = oldest_reader();
    const auto end = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& one) { return one.epoch > oldest; });
    for (auto one = waiting_.begin(); one != end; ++one)
        one->free(one->memory);
    freed_ += static_cast<std::uint64_t>(end - waiting_.begin());
    waiting_.erase(waiting_.begin(), end);
}

void GracePeriods::retire(void* memory, void (*free)(void*)) noexcept {
    const std::uint64_t epoch = epoch_.fetch_add(1, std::memory_order_seq_cst) + 1;
    waiting_.push_back({epoch, memory, free});
    most_ = std::max<std::uint64_t>(most_, waiting_.size());
    if (waiting_.size() % kLookEvery == 0) free_passed();
    while (waiting_.size() >= kMostWaiting) {
        yield_cpu();
        free_passed();
    }
}

void GracePeriods::synchronize() noexcept {
    free_passed();
    while (!waiting_.empty()) {
        yield_cpu();
        free_passed();
    }
}

}  // namespace vsb::engine::dgram_sendmsg
