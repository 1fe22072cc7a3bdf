#include "engine/trial/pattern.h"

namespace vsb::engine::trial {

Pattern::Pattern(std::uint64_t seed, std::size_t longest) : table_(kStarts + longest) {
    std::uint64_t state = seed;
    for (auto& byte : table_) {
        state += 0x9e3779b97f4a7c15U;
        byte = static_cast<std::byte>(mix(state) >> 56);
    }
}

}  // namespace vsb::engine::trial
