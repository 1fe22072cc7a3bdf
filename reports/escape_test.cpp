#include "reports/escape.h"

#include <gtest/gtest.h>

namespace vsb::reports {
namespace {

TEST(Ascii, SpellsOutEverythingElse) {
    EXPECT_EQ(ascii("policy=a,max-pkts=64"), "policy=a,max-pkts=64");
    EXPECT_EQ(ascii("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
    EXPECT_EQ(ascii("a\r\n\tb"), "a\\r\\n\\tb");
    EXPECT_EQ(ascii(std::string("nul\0x", 5)), "nul\\x00x");
    EXPECT_EQ(ascii("\u00e9\u4e2d\U0001f600"), "\\u00e9\\u4e2d\\U0001f600");
    EXPECT_EQ(ascii("\x7f"), "\\x7f");
}

TEST(Printable, KeepsLettersSpellsControls) {
    EXPECT_EQ(printable("caf\u00e9 \u4e2d"), "caf\u00e9 \u4e2d");
    EXPECT_EQ(printable("a\u202eb\u2066c\u2069"), "a\\u202eb\\u2066c\\u2069");
    EXPECT_EQ(printable("\u200b\u200f\ufeff\u2028"), "\\u200b\\u200f\\ufeff\\u2028");
    EXPECT_EQ(printable("\u009b31m"), "\\u009b31m");  // CSI as one character
    EXPECT_EQ(printable("\U000e0041"), "\\U000e0041");
    EXPECT_EQ(printable("\uffff"), "\\uffff");  // not allowed in XML
}

TEST(Printable, SpellsBadUtf8ByByte) {
    EXPECT_EQ(printable("\xff"), "\\xff");
    EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong '/'
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
    EXPECT_EQ(printable("a\xe4\xb8"), "a\\xe4\\xb8");                  // cut off
    EXPECT_EQ(printable("\xe4\xb8z"), "\\xe4\\xb8z");
}

TEST(Shorten, KeepsBothEnds) {
    EXPECT_EQ(shorten("short", 8), "short");
    EXPECT_EQ(shorten("abcdefghijklmnop", 9), "abcd...op");
    EXPECT_EQ(shorten(std::string(10000, 'n'), 60).size(), 60U);
}

TEST(Cut, LeavesCharactersWhole) {
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += "\u4e2d";
    for (std::size_t bytes = 12; bytes < 40; ++bytes) {
        const std::string out = cut(text, bytes);
        EXPECT_LE(out.size(), bytes);
        EXPECT_EQ(out, printable(out)) << bytes;
    }
    EXPECT_EQ(cut("abc", 12), "abc");
    EXPECT_EQ(cut(std::string(100, '\x80'), 12).size(), 6U);  // nothing but continuation bytes
}

TEST(HtmlText, StartsNoMarkup) {
    EXPECT_EQ(html_text("</script><b a='x' c=\"y\">&"),
              "&lt;/script&gt;&lt;b a=&#39;x&#39; c=&quot;y&quot;&gt;&amp;");
    EXPECT_EQ(html_text("\x01\u202e"), "\\x01\\u202e");
}

TEST(MarkdownText, StartsNoMarkup) {
    EXPECT_EQ(markdown_text("**b** `c` _d_"), "\\*\\*b\\*\\* \\`c\\` \\_d\\_");
    EXPECT_EQ(markdown_text("[a](http://b)"), "\\[a\\](http&#58;//b)");
    EXPECT_EQ(markdown_text("a|b"), "a&#124;b");
    EXPECT_EQ(markdown_text("<u>&"), "&lt;u&gt;&amp;");
    EXPECT_EQ(markdown_text("@team #12 www.x.y"), "&#64;team \\#12 www&#46;x.y");
    EXPECT_EQ(markdown_text("- item"), "\\- item");
    EXPECT_EQ(markdown_text("x\n# y"), "x\\\\n\\# y");  // one line, its backslash literal
    EXPECT_EQ(markdown_text("a: b=c"), "a: b=c");
    EXPECT_EQ(markdown_text("fixed/64B, 1.5 max-pkts"), "fixed/64B, 1.5 max-pkts");
}

TEST(MarkdownText, OrderedListIsNone) {
    EXPECT_EQ(markdown_text("1. x"), "1\\. x");
    EXPECT_EQ(markdown_text("12) x"), "12\\) x");
}

TEST(CsvCell, PrefixesFormulas) {
    EXPECT_EQ(csv_cell("=cmd()"), "'=cmd()");
    EXPECT_EQ(csv_cell("+1"), "'+1");
    EXPECT_EQ(csv_cell("-1"), "'-1");
    EXPECT_EQ(csv_cell("@SUM(A1)"), "'@SUM(A1)");
    EXPECT_EQ(csv_cell("  =1"), "'  =1");
    EXPECT_EQ(csv_cell("\t=1"), "\\t=1");  // the tab is spelled out
    EXPECT_EQ(csv_cell("a=b"), "a=b");
}

TEST(CsvCell, Quotes) {
    EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
    EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
    EXPECT_EQ(csv_cell("a\nb"), "a\\nb");
    EXPECT_EQ(csv_cell(""), "");
}

TEST(PlotLabel, HoldsNothingThatGnuplotReads) {
    EXPECT_EQ(plot_label("a`date`\"b'\\c@d"), "a_date__b_/c(at)d");
    EXPECT_EQ(plot_label("x\ty\n"), "x/ty/n");
}

}  // namespace
}  // namespace vsb::reports
