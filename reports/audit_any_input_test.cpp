#include "reports/audit_any_input.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "datasets/mutated_text.h"
#include "reports/audit.h"
#include "reports/mail_tables.h"

namespace vsb::reports {
namespace {

const std::string kGood =
    "with 16 balanced AB/BA pairs\n\nThroughput (Gbit/s):\n\n  payload  A  B  change (95% CI)\n"
    "  64B  0.1290  0.2489  +92.91% [+89.31%, +96.58%] 1048577/1048577\n"
    "> 256B 0.5780 0.9727 +68.29%\n>  [+66.14%, +70.48%]\n"
    "| 4 KiB | 331/68 | -79.5% |\nBefore: 245.2 MB/s\nAfter: 509.2 MB/s (+107%)\n";

constexpr std::array<std::string_view, 24> kPieces = {"[",
                                                      "]",
                                                      "(",
                                                      ")",
                                                      "%",
                                                      "+",
                                                      "-",
                                                      " to ",
                                                      "\n",
                                                      "\n\n",
                                                      "> ",
                                                      "|",
                                                      "1e+999",
                                                      "1e-99",
                                                      "0.0",
                                                      "99999999999999999999999",
                                                      ",",
                                                      "/",
                                                      "\x1b",
                                                      "\xff",
                                                      "pairs",
                                                      "\0x",
                                                      "\xe2\x88\x92",
                                                      "64B 0.1 0.2 +100% [+1%, +9%] "};

TEST(AuditAnyInput, MutatedMailsKeepThePromises) {
    std::mt19937_64 random(20261130);
    std::size_t rows = 0;
    std::size_t inconsistent = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::string text = datasets::mutated(kGood, kPieces, random);
        ASSERT_EQ(broken_promise(text), "") << text;
        const Audit found = audit(text);
        rows += found.rows.size();
        inconsistent += found.inconsistent;
    }
    EXPECT_GT(rows, 2000U);  // it was read, not refused
    EXPECT_GT(inconsistent, 150U);
}

TEST(AuditAnyInput, NoiseKeepsThem) {
    std::mt19937_64 random(7);
    constexpr std::string_view kLikely = "0123456789.%+-[](),/ \n>|eB";
    for (int i = 0; i < 1000; ++i) {
        std::string text(random() % 300, '\0');
        for (char& byte : text) {
            byte = i % 2 == 0 ? static_cast<char>(random()) : kLikely[random() % kLikely.size()];
        }
        ASSERT_EQ(broken_promise(text), "") << text;
    }
}

// Work is bounded by the caps: lines past theirs are not read at all, and a line is read at most
// three times, with the two below it.
TEST(AuditAnyInput, LongLinesAndCaptionsAreCutShort) {
    const std::string row = "64B 0.1 0.2 +100% [+90%, +110%]";
    const std::string blanks(kLongestMailLine, ' ');
    EXPECT_EQ(audit(row + "\n").rows.size(), 1U);
    EXPECT_TRUE(audit(row + blanks + "\n").rows.empty());
    const Audit captioned = audit(std::string(4000, 'x') + ":\n\n" + row);
    EXPECT_EQ(captioned.rows.at(0).caption.size(), kLongestCaption);
    // A paragraph without an end, of text, of rows, and of brackets that do not close.
    for (const char* line : {"text and text:\n", "64B 1 2 +50% [+1%,\n", "((((\n", "64B 1 [\n"}) {
        std::string text;
        for (int i = 0; i < 4000; ++i)
            text += line;
        EXPECT_EQ(broken_promise(text), "") << line;
    }
}

}  // namespace
}  // namespace vsb::reports
