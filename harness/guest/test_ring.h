#pragma once
// A guest's memory with split rings in it and a driver that may break every rule, for tests.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "engine/ring/vring.h"
#include "harness/guest/children.h"
#include "harness/guest/memory.h"
#include "harness/guest/queue.h"

namespace vsb::guest {

class TestMemory {
  public:
    static constexpr std::uint64_t kGuestBase = 0x1000'0000;
    static constexpr std::uint64_t kUserBase = 0x7f00'0000'0000;
    static constexpr std::size_t kSize = 4 << 20;

    TestMemory() : fd_(memfd_create("test", MFD_CLOEXEC)) {
        if (!fd_ || ftruncate(fd_.get(), kSize) != 0) throw std::runtime_error("memfd");
        void* at = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
        if (at == MAP_FAILED) throw std::runtime_error("mmap");
        base_ = static_cast<std::byte*>(at);
    }
    TestMemory(const TestMemory&) = delete;
    TestMemory& operator=(const TestMemory&) = delete;
    ~TestMemory() { munmap(base_, kSize); }

    const Fd& fd() const { return fd_; }
    std::byte* at(std::size_t offset) const { return base_ + offset; }
    MemoryRegion region() const { return {kGuestBase, kSize, kUserBase, 0}; }

  private:
    Fd fd_;
    std::byte* base_ = nullptr;
};

// The driver's half, without any check. Ring at `offset`, its buffers anywhere.
class TestDriver {
  public:
    TestDriver(const TestMemory& memory, std::size_t offset, std::uint16_t size)
        : memory_(memory), offset_(offset), size_(size) {}

    RingAddresses addresses() const {
        return {TestMemory::kUserBase + offset_, TestMemory::kUserBase + avail_at(),
                TestMemory::kUserBase + used_at()};
    }
    std::uint16_t size() const { return size_; }

    engine::VringDesc& descriptor(std::uint16_t index) const {
        return reinterpret_cast<engine::VringDesc*>(memory_.at(offset_))[index];
    }
    std::uint16_t& avail(std::size_t index) const {
        return reinterpret_cast<std::uint16_t*>(memory_.at(avail_at()))[index];
    }
    std::uint16_t& used(std::size_t index) const {
        return reinterpret_cast<std::uint16_t*>(memory_.at(used_at()))[index];
    }
    engine::VringUsedElem used_element(std::uint16_t index) const {
        engine::VringUsedElem one{};
        std::memcpy(&one, memory_.at(used_at()) + 4 + 8 * (index % size_), sizeof(one));
        return one;
    }
    std::uint16_t used_index() const { return used(1); }

    // One descriptor a buffer, at guest address base + offset.
    void set(std::uint16_t index, std::size_t offset, std::uint32_t length, std::uint16_t flags,
             std::uint16_t next = 0) const {
        descriptor(index) = {TestMemory::kGuestBase + offset, length, flags, next};
    }
    void post(std::uint16_t head) {
        avail(2 + posted_ % size_) = head;
        avail(1) = ++posted_;
    }
    // Claims so many entries more than it posted, from now on.
    void jump(std::uint16_t entries) {
        posted_ = static_cast<std::uint16_t>(posted_ + entries);
        avail(1) = posted_;
    }

  private:
    std::size_t avail_at() const { return offset_ + 16 * std::size_t{size_}; }
    std::size_t used_at() const { return (avail_at() + 6 + 2 * std::size_t{size_} + 63) / 64 * 64; }
    const TestMemory& memory_;
    std::size_t offset_;
    std::uint16_t size_;
    std::uint16_t posted_ = 0;
};

}  // namespace vsb::guest
