#include "receivers/perf/reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>

namespace vsb::perf {
namespace {

using ::testing::HasSubstr;

Reading reading(std::uint64_t enabled, std::uint64_t running, std::vector<std::uint64_t> values) {
    return {enabled, running, std::move(values)};
}

TEST(Decode, ReadsAGroupInTheOrderOfItsEvents) {
    const std::array<std::uint64_t, 5> words = {2, 700, 600, 11, 22};
    const auto got = decode(words, sizeof words, 2);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->enabled_ns, 700u);
    EXPECT_EQ(got->running_ns, 600u);
    EXPECT_EQ(got->values, (std::vector<std::uint64_t>{11, 22}));
}

TEST(Decode, RejectsEveryOtherSize) {
    const std::array<std::uint64_t, 5> words = {2, 700, 600, 11, 22};
    for (std::size_t size = 0; size < sizeof words; ++size) {
        EXPECT_FALSE(decode(words, size, 2)) << size;
    }
    EXPECT_FALSE(decode(words, sizeof words, 1));
    EXPECT_FALSE(decode(std::span(words).first(4), sizeof words, 2));
    const std::array<std::uint64_t, 5> other = {3, 700, 600, 11, 22};
    EXPECT_FALSE(decode(other, sizeof other, 2));
}

TEST(Difference, GivesTheValueWhenTheGroupRanAllTheTime) {
    const Count count = difference(reading(10, 10, {5, 6}), reading(110, 110, {1005, 2006}), 1);
    ASSERT_TRUE(count.value);
    EXPECT_EQ(*count.value, 2000u);
    EXPECT_TRUE(count.reason.empty());
}

TEST(Difference, ZeroIsAValueWhenTheCounterRan) {
    const Count count = difference(reading(0, 0, {5}), reading(100, 100, {5}), 0);
    ASSERT_TRUE(count.value);
    EXPECT_EQ(*count.value, 0u);
}

TEST(Difference, MultiplexedIsAbsentAndSaysHowMuch) {
    const Count count = difference(reading(0, 0, {0}), reading(1000, 250, {999}), 0);
    EXPECT_FALSE(count.value);
    EXPECT_THAT(count.reason, HasSubstr("multiplexed: on the hardware for 25.00%"));
}

TEST(Difference, OnlyTheTimeBetweenTheReadingsMatters) {
    const Count count = difference(reading(1000, 250, {7}), reading(2000, 1250, {8}), 0);
    EXPECT_EQ(count.value, 1u);
}

TEST(Difference, NeverEnabledNeverRanAndBackwardsAreAbsent) {
    EXPECT_THAT(difference(reading(5, 5, {1}), reading(5, 5, {1}), 0).reason,
                HasSubstr("never enabled"));
    EXPECT_THAT(difference(reading(0, 0, {0}), reading(5, 0, {0}), 0).reason,
                HasSubstr("never ran"));
    EXPECT_THAT(difference(reading(0, 0, {2}), reading(5, 5, {1}), 0).reason,
                HasSubstr("backwards"));
    EXPECT_THAT(difference(reading(0, 0, {0}), reading(5, 6, {1}), 0).reason, HasSubstr("longer"));
    EXPECT_THAT(difference(reading(0, 0, {0}), reading(5, 5, {1}), 1).reason,
                HasSubstr("not part"));
}

TEST(OpenErrorReason, SaysHowToMendADenial) {
    EXPECT_THAT(open_error_reason(EACCES), HasSubstr("perf_event_paranoid"));
    EXPECT_THAT(open_error_reason(EPERM), HasSubstr("CAP_PERFMON"));
    EXPECT_THAT(open_error_reason(ENOENT), HasSubstr("no such hardware counter"));
    EXPECT_THAT(open_error_reason(EINVAL), HasSubstr("Invalid argument"));
}

}  // namespace
}  // namespace vsb::perf
