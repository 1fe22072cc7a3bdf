#include "harness/utf8.h"

namespace vsb::harness {

CodePoint first_code_point(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {lead, 1, true};
    const CodePoint bad{lead, 1, false};
    std::size_t length = 0;
    char32_t value = 0;
    char32_t lowest = 0;  // below it the sequence is an overlong spelling
    if (lead >= 0xc2 && lead < 0xe0) {
        length = 2, value = lead & 0x1fU, lowest = 0x80;
    } else if (lead >= 0xe0 && lead < 0xf0) {
        length = 3, value = lead & 0x0fU, lowest = 0x800;
    } else if (lead >= 0xf0 && lead < 0xf5) {
        length = 4, value = lead & 0x07U, lowest = 0x10000;
    } else {
        return bad;
    }
    if (text.size() < length) return bad;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return bad;
        value = (value << 6) | (byte(i) & 0x3fU);
    }
    const bool surrogate = value >= 0xd800 && value < 0xe000;
    if (value < lowest || value > 0x10ffff || surrogate) return bad;
    return {value, length, true};
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const CodePoint point = first_code_point(text);
        if (!point.valid) return false;
        text.remove_prefix(point.bytes);
    }
    return true;
}

}  // namespace vsb::harness
