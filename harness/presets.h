#pragma once
// The experiments that come with the program: TOML files of harness/presets/, embedded when it is
// built, so that anyone can copy one and change it.

#include <span>
#include <string>
#include <string_view>

namespace vsb::harness {

struct Preset {
    std::string_view name;     // "demo"
    std::string_view summary;  // its first comment line
    std::string_view toml;
};

std::span<const Preset> presets();
const Preset* find_preset(std::string_view name);

}  // namespace vsb::harness
