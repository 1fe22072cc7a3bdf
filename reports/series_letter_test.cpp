#include "reports/series_letter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "reports/audit.h"
#include "reports/audit_text.h"
#include "reports/golden.h"
#include "reports/sample.h"

namespace vsb::reports {
namespace {

using testing::HasSubstr;

// v5's three comparisons, with the sample's figures in each.
std::vector<SeriesPart> three() {
    std::vector<SeriesPart> parts{{sample::typical(), "baseline", "P1-P5"},
                                  {sample::typical(), "baseline", "P1-P3"},
                                  {sample::typical(), "P1-P3", "P1-P5"}};
    const std::string all = parts[0].comparison.record->states[1].spec;
    parts[1].comparison.record->states[1].spec = "policy=lock-batch,max-pkts=64";
    parts[2].comparison.record->states[0].spec = "policy=lock-batch,max-pkts=64";
    parts[2].comparison.record->states[1].spec = all;
    parts[1].comparison.record->seed = 43;
    return parts;
}

void expect_refused(const std::vector<SeriesPart>& parts, const std::string& why) {
    try {
        series_letter(parts);
        ADD_FAILURE() << "written: " << why;
    } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(), HasSubstr(why));
    }
}

TEST(SeriesLetterGolden, ThreeComparisons) {
    const auto diff = golden_diff("series.txt", series_letter(three()));
    EXPECT_TRUE(diff.empty()) << diff;
}

TEST(SeriesLetter, WithinTheColumnsAndConsistent) {
    const std::string letter = series_letter(three());
    std::istringstream in(letter);
    for (std::string line; std::getline(in, line);)
        EXPECT_LE(line.size(), 72U) << line;
    const Audit found = audit(letter);
    EXPECT_EQ(found.rows.size(), 24U) << audit_text(found);
    EXPECT_EQ(found.consistent, 24U) << audit_text(found);
}

// What holds of every part stands once, what does not stands with its part.
TEST(SeriesLetter, FactsAreSaidOnce) {
    const std::string letter = series_letter(three());
    const auto count = [&](const std::string& what) {
        std::size_t n = 0;
        for (auto at = letter.find(what); at != std::string::npos; at = letter.find(what, at + 1))
            ++n;
        return n;
    };
    EXPECT_EQ(count("  machine "), 1U);
    EXPECT_EQ(count("  pairs        "), 3U);
    EXPECT_EQ(count("seed 43"), 1U);
    EXPECT_EQ(count("P1-P5 (B) against P1-P3 (A):"), 1U);
    EXPECT_EQ(count("(P1-P3/P1-P5)"), 2U);
}

TEST(SeriesLetter, NamesMustFitTheStates) {
    expect_refused({}, "needs an experiment");
    auto parts = three();
    parts[2].a = "baseline";
    expect_refused(parts, "'baseline' names two states, policy=per-packet and policy=lock-batch");
    parts = three();
    parts[2].b = "P1-P6";
    expect_refused(parts, "has two names, P1-P5 and P1-P6");
    parts = three();
    parts[0].a = "the first";
    expect_refused(parts, "'the first' is no name for a state");
    parts = three();
    parts[1].comparison.record.reset();
    expect_refused(parts, "has no record");
}

}  // namespace
}  // namespace vsb::reports
