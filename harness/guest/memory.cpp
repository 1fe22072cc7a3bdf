#include "harness/guest/memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace vsb::guest {
namespace {

constexpr std::uint64_t kMaxRegion = std::uint64_t{64} << 30;
constexpr std::uint64_t kPage = 4096;

bool overflows(std::uint64_t start, std::uint64_t size) {
    return size > std::numeric_limits<std::uint64_t>::max() - start;
}

bool meet(std::uint64_t a, std::uint64_t a_size, std::uint64_t b, std::uint64_t b_size) {
    return a < b + b_size && b < a + a_size;
}

// Inside, without computing an end that could overflow.
bool inside(std::uint64_t start, std::uint64_t length, std::uint64_t address, std::uint64_t size) {
    return address >= start && address - start < length && size <= length - (address - start);
}

}  // namespace

GuestMemory::~GuestMemory() {
    unmap();
}

GuestMemory::GuestMemory(GuestMemory&& other) noexcept
    : mapped_(std::exchange(other.mapped_, {})) {}

GuestMemory& GuestMemory::operator=(GuestMemory&& other) noexcept {
    if (this != &other) {
        unmap();
        mapped_ = std::exchange(other.mapped_, {});
    }
    return *this;
}

void GuestMemory::unmap() noexcept {
    for (const Mapped& one : mapped_)
        munmap(one.mapping, one.mapping_size);
    mapped_.clear();
}

std::string GuestMemory::add(const MemoryRegion& region, const Fd& file) {
    if (mapped_.size() >= kMaxRegions) return "more than 8 memory regions";
    if (region.size == 0 || region.size > kMaxRegion) return "a memory region of no sane size";
    if (overflows(region.guest_address, region.size) ||
        overflows(region.user_address, region.size) ||
        overflows(region.file_offset, region.size + kPage)) {
        return "a memory region beyond the end of the address space";
    }
    for (const Mapped& one : mapped_) {
        if (meet(one.region.guest_address, one.region.size, region.guest_address, region.size) ||
            meet(one.region.user_address, one.region.size, region.user_address, region.size)) {
            return "memory regions that overlap";
        }
    }
    // A page beyond the file's end would be a SIGBUS at some later access.
    struct stat status {};
    if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0 ||
        static_cast<std::uint64_t>(status.st_size) < region.file_offset + region.size) {
        return "a memory region that its file does not hold";
    }
    const std::uint64_t start = region.file_offset / kPage * kPage;
    const std::size_t size = region.file_offset - start + region.size;
    void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(),
                         static_cast<off_t>(start));
    if (mapping == MAP_FAILED) return std::string("mapping the guest's memory: ") + strerror(errno);
    Mapped one;
    one.region = region;
    one.mapping = static_cast<std::byte*>(mapping);
    one.mapping_size = size;
    one.base = one.mapping + (region.file_offset - start);
    mapped_.push_back(one);
    return {};
}

std::byte* GuestMemory::at_guest(std::uint64_t address, std::uint64_t size) const noexcept {
    if (size == 0) return nullptr;
    for (const Mapped& one : mapped_) {
        if (inside(one.region.guest_address, one.region.size, address, size)) {
            return one.base + (address - one.region.guest_address);
        }
    }
    return nullptr;
}

std::byte* GuestMemory::at_user(std::uint64_t address, std::uint64_t size) const noexcept {
    if (size == 0) return nullptr;
    for (const Mapped& one : mapped_) {
        if (inside(one.region.user_address, one.region.size, address, size)) {
            return one.base + (address - one.region.user_address);
        }
    }
    return nullptr;
}

}  // namespace vsb::guest
