#include "reports/plot_style.h"

#include <fmt/format.h>

#include <cmath>

namespace vsb::reports {

std::string plot_head(int width, int height) {
    return fmt::format(
        "set terminal svg noenhanced size {},{} dynamic font 'sans-serif,15'\n"
        "set datafile separator \"\\t\"\n"
        "set border 3 lc rgb 'black' lw 0.5\n"
        "set tics nomirror out scale 0.5\n"
        "set grid lc rgb '{}' lw 0.3 dt 3\n"
        "set key outside top center horizontal samplen 1 spacing 1\n",
        width, height, kOpen);
}

bool plottable(double change) {
    constexpr double kWidest = 1e4;
    return std::isfinite(change) && std::abs(change) <= kWidest;
}

}  // namespace vsb::reports
