#pragma once
// The style sheet of the HTML report: one text, light and dark, 400 to 1400 pixels.

#include <string_view>

namespace vsb::reports {

std::string_view html_style();

}  // namespace vsb::reports
