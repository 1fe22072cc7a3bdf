#include "engine/ring/vring.h"

namespace vsb::engine {
namespace {

constexpr std::size_t line_up(std::size_t n) {
    return (n + 63) & ~std::size_t{63};
}
std::size_t desc_bytes(std::uint16_t size) {
    return line_up(sizeof(VringDesc) * size);
}
std::size_t avail_bytes(std::uint16_t size) {
    return line_up(2 * (std::size_t{3} + size));
}
std::size_t used_bytes(std::uint16_t size) {
    return line_up(6 + sizeof(VringUsedElem) * std::size_t{size});
}

}  // namespace

std::size_t Vring::bytes(std::uint16_t size) noexcept {
    return desc_bytes(size) + avail_bytes(size) + used_bytes(size);
}

Vring Vring::over(std::byte* memory, std::uint16_t size, bool event_idx) noexcept {
    Vring ring;
    ring.size = size;
    ring.event_idx = event_idx;
    ring.desc = reinterpret_cast<VringDesc*>(memory);
    ring.avail = reinterpret_cast<std::uint16_t*>(memory + desc_bytes(size));
    ring.used = reinterpret_cast<std::uint16_t*>(memory + desc_bytes(size) + avail_bytes(size));
    return ring;
}

}  // namespace vsb::engine
