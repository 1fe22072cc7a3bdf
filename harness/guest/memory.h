#pragma once
// The memory of a guest as its vhost-user device sees it: regions mapped from the descriptors that
// SET_MEM_TABLE brought. Nothing in it is trusted: every address is looked up with its length.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/guest/children.h"

namespace vsb::guest {

struct MemoryRegion {
    std::uint64_t guest_address = 0;
    std::uint64_t size = 0;
    std::uint64_t user_address = 0;  // in the machine's own address space: rings are named by it
    std::uint64_t file_offset = 0;
};

class GuestMemory {
  public:
    static constexpr std::size_t kMaxRegions = 8;

    GuestMemory() = default;
    ~GuestMemory();
    GuestMemory(GuestMemory&& other) noexcept;
    GuestMemory& operator=(GuestMemory&& other) noexcept;

    // Maps a region. Empty on success, else why not: an empty or overflowing range, one that meets
    // another, a file that is shorter than it says.
    std::string add(const MemoryRegion& region, const Fd& file);

    // Where `size` bytes at an address are here, or nullptr if not all of them lie in one region.
    // size 0 gives nullptr.
    std::byte* at_guest(std::uint64_t address, std::uint64_t size) const noexcept;
    std::byte* at_user(std::uint64_t address, std::uint64_t size) const noexcept;

    bool empty() const noexcept { return mapped_.empty(); }

  private:
    struct Mapped {
        MemoryRegion region;
        std::byte* base = nullptr;     // of the region
        std::byte* mapping = nullptr;  // of the whole mapping, from the file's start of a page
        std::size_t mapping_size = 0;
    };
    void unmap() noexcept;
    std::vector<Mapped> mapped_;
};

}  // namespace vsb::guest
