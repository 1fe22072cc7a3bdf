#pragma once
// UTF-8, one code point at a time: what is valid, and what it stands for.

#include <cstddef>
#include <string_view>

namespace vsb::harness {

struct CodePoint {
    char32_t value = 0;
    std::size_t bytes = 1;
    bool valid = true;  // not valid: one byte that starts no shortest-form sequence
};

// The code point at the start of a text that is not empty.
CodePoint first_code_point(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace vsb::harness
