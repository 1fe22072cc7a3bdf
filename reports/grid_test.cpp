#include "reports/grid.h"

#include <gtest/gtest.h>

#include <sstream>

namespace vsb::reports {
namespace {

std::size_t longest_line(const std::string& text) {
    std::istringstream in(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(in, line);)
        longest = std::max(longest, line.size());
    return longest;
}

Grid sample() {
    return {
        {{"payload", Align::left}, {"A\n(unit)"}, {"p", Align::right, 1}, {"note", Align::left, 2}},
        {{"64B", "0.1290", "0.01", "faster"}, {"64K", "5.4842", "<0.001", "slower"}}};
}

TEST(Draw, AlignsHeadsAndCells) {
    EXPECT_EQ(draw(sample(), 80).text,
              "  payload  A            p  note\n"
              "           (unit)\n"
              "  64B      0.1290    0.01  faster\n"
              "  64K      5.4842  <0.001  slower\n");
}

TEST(Draw, TightensBeforeItDrops) {
    const Drawn drawn = draw(sample(), 30);
    EXPECT_EQ(drawn.shown, std::vector<bool>({true, true, true, true}));
    EXPECT_EQ(drawn.text.substr(0, drawn.text.find('\n')), "  payload A           p note");
}

TEST(Draw, DropsInOrder) {
    EXPECT_EQ(draw(sample(), 25).shown, std::vector<bool>({true, true, false, true}));
    EXPECT_EQ(draw(sample(), 18).shown, std::vector<bool>({true, true, false, false}));
}

TEST(Draw, StacksWhatFitsNoWay) {
    Grid grid = sample();
    grid.rows[0][0] = std::string(50, 'w');
    const Drawn drawn = draw(grid, 30);
    EXPECT_LE(longest_line(drawn.text), 30U);
    EXPECT_NE(drawn.text.find("A (unit) 0.1290"), std::string::npos) << drawn.text;
    EXPECT_EQ(drawn.shown, std::vector<bool>({true, true, true, true}));
}

TEST(Draw, EmptyGridIsItsHeading) {
    EXPECT_EQ(draw({{{"a", Align::left}, {"b"}}, {}}, 20).text, "  a  b\n");
}

TEST(DrawFolded, WhatDoesNotFitStandsBelow) {
    EXPECT_EQ(draw_folded(sample(), 80), draw(sample(), 80).text);
    EXPECT_EQ(draw_folded(sample(), 28),
              "  payload  A       note\n"
              "           (unit)\n"
              "  64B      0.1290  faster\n"
              "  64K      5.4842  slower\n"
              "\n"
              "  payload       p\n"
              "  64B        0.01\n"
              "  64K      <0.001\n");
    EXPECT_LE(longest_line(draw_folded(sample(), 17)), 17U);
}

TEST(Wrap, BreaksAtBlanks) {
    EXPECT_EQ(wrap("one two  three four", 9), "one two\nthree\nfour\n");
    EXPECT_EQ(wrap("one two three", 12, "- ", "  "), "- one two\n  three\n");
    EXPECT_EQ(wrap("", 10), "\n");
    EXPECT_EQ(wrap("   ", 10, "x:"), "x:\n");
}

TEST(Wrap, CutsLongWordsAfterCommasElseAnywhere) {
    EXPECT_EQ(wrap("kernel=bzImage,policy=deferred", 16), "kernel=bzImage,\npolicy=deferred\n");
    EXPECT_EQ(wrap("aaaaaaaaaa", 4), "aaaa\naaaa\naa\n");
    EXPECT_EQ(wrap("x aaaaaaaaaa", 4), "x\naaaa\naaaa\naa\n");
    EXPECT_EQ(wrap("aaaa", 2, "----", ""),
              "----a\naa\na\n");  // a prefix wider than the page
}

TEST(Wrap, NeverExceedsTheWidth) {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += std::string(static_cast<std::size_t>(i), 'x') + (i % 3 ? " " : ",");
    for (std::size_t width = 8; width < 80; ++width) {
        EXPECT_LE(longest_line(wrap(text, width, "  - ", "    ")), width);
    }
}

}  // namespace
}  // namespace vsb::reports
