#pragma once
// TOML spelled by hand: a basic string with its escapes.

#include <string>
#include <string_view>

namespace vsb::harness {

std::string toml_string(std::string_view text);

}  // namespace vsb::harness
