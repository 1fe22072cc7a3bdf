#pragma once
// What the plots look like: colours readable on white and on black (the page follows the reader's
// setting; black becomes its text colour, svg_for_page), and the head of every script.

#include <array>
#include <string>
#include <string_view>

namespace vsb::reports {

inline constexpr std::string_view kColorA = "#c9782a";
inline constexpr std::string_view kColorB = "#3585d0";
inline constexpr std::string_view kGood = "#2f9e5f";
inline constexpr std::string_view kBad = "#d0524a";
inline constexpr std::string_view kOpen = "#8a8a8a";
// Of several curves in one plot.
inline constexpr std::array<std::string_view, 6> kCurveColors = {"#3585d0", "#c9782a", "#2f9e5f",
                                                                 "#9a6bd0", "#d0524a", "#8a8a8a"};

// Terminal of this size in pixels, tab separated data, frame, tics, grid and key.
std::string plot_head(int width, int height);

// Whether a scale can hold a change (a fraction) and say something.
bool plottable(double change);

}  // namespace vsb::reports
