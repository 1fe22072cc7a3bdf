#pragma once
// The numbered steps from an empty file to the schema of SCHEMA.md. A step that was released is
// never changed; a change of the schema is a new step.

#include <cstdint>
#include <span>

namespace vsb::datasets {

// "VSBN": what file(1) and we tell our stores by.
inline constexpr std::int32_t kApplicationId = 0x5653424e;

struct Migration {
    int version = 0;  // of the schema after this step: 1, 2, 3, ...
    const char* script = nullptr;
};

std::span<const Migration> migrations();

}  // namespace vsb::datasets
