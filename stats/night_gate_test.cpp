#include "stats/night_gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "stats/draws.h"

namespace vsb::stats {
namespace {

// Nearly normal: the sum of twelve uniforms less six.
double noise(Draws& random) {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
        sum += static_cast<double>(random.below(1U << 20)) / (1U << 20);
    return sum;
}

// A night of 16 pairs: its SE is estimated too, with 14 degrees of freedom.
Night night(Draws& random, double level, double se) {
    double squares = 0;
    for (int i = 0; i < 14; ++i) {
        const double z = noise(random);
        squares += z * z;
    }
    return {level + se * noise(random), se * std::sqrt(squares / 14)};
}

std::vector<Night> nights_of(Draws& random, std::size_t n, double level, double se) {
    std::vector<Night> nights;
    for (std::size_t i = 0; i < n; ++i)
        nights.push_back(night(random, level, se));
    return nights;
}

std::vector<Night> joined(std::vector<Night> first, const std::vector<Night>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

NightVerdict judge_one(const std::vector<Night>& nights, const NightGateOptions& options = {},
                       Better better = Better::higher) {
    const std::vector<NightSeries> series{{nights, better}};
    return judge_nights(series, options).front();
}

bool alarms(const NightVerdict& verdict) {
    return (verdict.step && verdict.step->alarm) || (verdict.drop && verdict.drop->alarm);
}

TEST(NightGate, FindsAStepThatIsWorse) {
    Draws random(1);
    const auto nights =
        joined(nights_of(random, 30, 0.6, 0.005), nights_of(random, 8, 0.58, 0.005));
    const NightVerdict verdict = judge_one(nights);
    ASSERT_TRUE(verdict.step);
    EXPECT_TRUE(verdict.step->alarm);
    EXPECT_EQ(verdict.step->index, 30U);
    EXPECT_NEAR(verdict.step->change, -0.02, 0.006);
    EXPECT_LT(verdict.step->ci.low, verdict.step->change);
    EXPECT_LT(verdict.step->ci.high, -0.01);
    EXPECT_LE(verdict.step->p_adjusted, 0.002);
    EXPECT_GT(verdict.step->p_adjusted, verdict.step->p);  // Holm over step and drop
    EXPECT_NEAR(verdict.night_sd, 0.005, 0.003);
}

TEST(NightGate, PassesWhatIsBetterAndWhatIsOld) {
    Draws random(2);
    const auto worse = joined(nights_of(random, 30, 0, 0.005), nights_of(random, 10, -0.03, 0.005));
    EXPECT_TRUE(alarms(judge_one(worse)));
    // More microseconds are worse, fewer are not.
    EXPECT_FALSE(alarms(judge_one(worse, {}, Better::lower)));
    EXPECT_FALSE(judge_one(worse, {}, Better::lower).changes.empty());
    std::vector<Night> turned = worse;
    for (Night& one : turned)
        one.log_ratio = -one.log_ratio;
    EXPECT_FALSE(alarms(judge_one(turned)));
    EXPECT_TRUE(alarms(judge_one(turned, {}, Better::lower)));
    // Within the margin, or longer ago than the gate looks back.
    EXPECT_FALSE(alarms(judge_one(worse, {.margin = 0.05})));
    EXPECT_TRUE(alarms(judge_one(worse, {.look_back = 10})));
    EXPECT_FALSE(alarms(judge_one(worse, {.look_back = 9})));
    // Beyond the window nothing is searched, and what is found within has the whole series' index.
    ASSERT_TRUE(judge_one(worse, {.window = 25}).step);
    EXPECT_EQ(judge_one(worse, {.window = 25}).step->index, 30U);
    EXPECT_TRUE(judge_one(worse, {.window = 10}).changes.empty());
    // Mended since.
    const auto mended = joined(worse, nights_of(random, 12, 0, 0.005));
    EXPECT_EQ(judge_one(mended).changes.size(), 2U);
    EXPECT_FALSE(alarms(judge_one(mended)));
}

TEST(NightGate, ASlideCountsAsAWhole) {
    Draws random(3);
    auto nights = nights_of(random, 30, 0, 0.001);
    for (const double level : {-0.006, -0.012, -0.018})
        nights = joined(nights, nights_of(random, 9, level, 0.001));
    const NightVerdict verdict = judge_one(nights, {.margin = 0.015});
    ASSERT_GE(verdict.changes.size(), 3U);
    ASSERT_TRUE(verdict.step);
    EXPECT_TRUE(verdict.step->alarm);
    EXPECT_NEAR(verdict.step->change, -0.018, 0.002);
}

TEST(NightGate, SeesACollapseAtOnceAndNotFromTooLittle) {
    Draws random(4);
    auto nights = nights_of(random, 20, 0, 0.005);
    EXPECT_FALSE(alarms(judge_one(nights)));
    nights.push_back({-0.10, 0.005});
    const NightVerdict verdict = judge_one(nights);
    ASSERT_TRUE(verdict.drop);
    EXPECT_TRUE(verdict.drop->alarm);
    EXPECT_EQ(verdict.drop->index, 20U);
    EXPECT_NEAR(verdict.drop->change, -0.095, 0.01);
    // A night that knows nothing shows nothing.
    nights.back().se = 0.10;
    EXPECT_FALSE(alarms(judge_one(nights)));
    // Three nights before say no level.
    const std::vector<Night> few{{0, 0.005}, {0.001, 0.005}, {-0.001, 0.005}, {-0.5, 0.005}};
    EXPECT_FALSE(judge_one(few).drop_armed);
    EXPECT_FALSE(judge_one(few).step_armed);
    EXPECT_FALSE(alarms(judge_one(few)));
    EXPECT_TRUE(judge_one(nights).drop_armed);
}

// The same workload among more of them has to be more certain.
TEST(NightGate, SharesItsLevelAmongTheWorkloads) {
    Draws random(5);
    const auto worse = joined(nights_of(random, 30, 0, 0.006), nights_of(random, 8, -0.025, 0.006));
    const auto clean = nights_of(random, 38, 0, 0.006);
    std::vector<NightSeries> series{{worse, Better::higher}};
    const double alone = judge_nights(series).front().step.value().p_adjusted;
    for (int i = 0; i < 7; ++i)
        series.push_back({clean, Better::higher});
    const auto verdicts = judge_nights(series);
    EXPECT_NEAR(verdicts[0].step->p_adjusted / verdicts[0].step->p, 16, 1e-9);
    EXPECT_GT(alone, verdicts[0].step->p);
    for (std::size_t i = 1; i < verdicts.size(); ++i)
        EXPECT_FALSE(alarms(verdicts[i]));
    // A p that a whole table could not reach would be a gate that cannot fail.
    EXPECT_THROW(judge_nights(series, {.level = 1e-6}), std::invalid_argument);
}

TEST(NightGate, RefusesOptionsThatCouldNeverFail) {
    const std::vector<Night> none;
    for (const NightGateOptions& bad :
         {NightGateOptions{.level = 0}, NightGateOptions{.level = 1},
          NightGateOptions{.margin = -0.1}, NightGateOptions{.margin = 1},
          NightGateOptions{.look_back = 4}, NightGateOptions{.window = 9},
          NightGateOptions{.min_segment = 1}, NightGateOptions{.power = 1}}) {
        EXPECT_THROW(judge_one(none, bad), std::invalid_argument);
    }
    EXPECT_FALSE(alarms(judge_one(none)));
    EXPECT_THROW(judge_one({{0.0, 0.0}}), std::invalid_argument);
}

TEST(NightGate, SaysHowManyNightsAStepOfItsMarginNeeds) {
    Draws random(6);
    const NightVerdict sharp = judge_one(nights_of(random, 40, 0, 0.002));
    ASSERT_TRUE(sharp.nights_needed);
    EXPECT_EQ(*sharp.nights_needed, 5U);
    const NightVerdict blunt = judge_one(nights_of(random, 40, 0, 0.05));
    EXPECT_FALSE(blunt.nights_needed);
}

TEST(NightsToFind, GrowsWithNoiseAndShrinksWithTheStep) {
    const auto need = [](double step, double sd, double level = 0.001) {
        return nights_to_find(step, sd, 40, level, 0.8, 5, 100).value_or(1000);
    };
    EXPECT_EQ(need(0.10, 0.01), 5U);
    EXPECT_GT(need(0.02, 0.01), 5U);
    EXPECT_LT(need(0.02, 0.01), 12U);
    EXPECT_GT(need(0.015, 0.01), need(0.02, 0.01));
    EXPECT_GT(need(0.02, 0.01, 0.00001), need(0.02, 0.01));
    EXPECT_EQ(need(0.001, 0.01), 1000U);
    EXPECT_EQ(need(-0.02, 0.01), need(0.02, 0.01));
    EXPECT_FALSE(nights_to_find(0.02, 0, 40, 0.001, 0.8, 5, 100));
    EXPECT_FALSE(nights_to_find(0.02, 0.01, 4, 0.001, 0.8, 5, 100));
}

// A history of `nights` nights, judged every night as it was then.
struct Outcome {
    std::size_t first_alarm = 0;  // night, from 1; 0: none
    std::size_t step_at = 0;      // index that the step alarm named
    bool by_step = false;
};

Outcome follow(Draws& random, std::size_t workloads, std::size_t nights, double se, double between,
               std::size_t step_at, double step) {
    std::vector<std::vector<Night>> all(workloads);
    Outcome outcome;
    for (std::size_t n = 0; n < nights; ++n) {
        for (std::size_t w = 0; w < workloads; ++w) {
            const double level = w == 0 && n >= step_at ? step : 0;
            all[w].push_back(night(random, level + between * noise(random), se));
        }
        std::vector<NightSeries> series;
        for (const auto& one : all)
            series.push_back({one, Better::higher});
        const auto verdicts = judge_nights(series, {.seed = random.word()});
        for (const NightVerdict& verdict : verdicts) {
            if (!alarms(verdict)) continue;
            outcome.first_alarm = n + 1;
            outcome.by_step = verdict.step && verdict.step->alarm;
            if (outcome.by_step) outcome.step_at = verdict.step->index;
            return outcome;
        }
    }
    return outcome;
}

constexpr std::size_t kNever = 1000;

double share_of_alarms(std::size_t histories, std::size_t workloads, double se, double between) {
    Draws random(99);
    std::size_t alarmed = 0;
    for (std::size_t i = 0; i < histories; ++i)
        alarmed += follow(random, workloads, 60, se, between, kNever, 0).first_alarm > 0 ? 1U : 0U;
    return static_cast<double>(alarmed) / static_cast<double>(histories);
}

struct Found {
    double in_time = 0;     // share of histories alarmed by the planned night
    double right_date = 0;  // of the step alarms, within two nights of the truth
    std::size_t planned = 0;
};

Found share_found(std::size_t histories, std::size_t workloads, double se) {
    constexpr std::size_t kStepAt = 40;
    const double step = std::log(0.98);
    Found found;
    found.planned =
        nights_to_find(step, se, kStepAt,
                       NightGateOptions{}.level / (2.0 * static_cast<double>(workloads)), 0.8, 5,
                       60)
            .value();
    Draws random(7);
    std::size_t in_time = 0;
    std::size_t by_step = 0;
    std::size_t right = 0;
    for (std::size_t i = 0; i < histories; ++i) {
        const Outcome outcome =
            follow(random, workloads, kStepAt + found.planned, se, 0, kStepAt, step);
        if (outcome.first_alarm > kStepAt) ++in_time;
        if (!outcome.by_step) continue;
        ++by_step;
        const double off = static_cast<double>(outcome.step_at) - static_cast<double>(kStepAt);
        if (std::abs(off) <= 2) ++right;
    }
    found.in_time = static_cast<double>(in_time) / static_cast<double>(histories);
    found.right_date = by_step == 0 ? 0 : static_cast<double>(right) / static_cast<double>(by_step);
    return found;
}

TEST(NightGateCalibration, SixtyCleanNightsAreQuiet) {
    EXPECT_LE(share_of_alarms(40, 2, 0.01, 0), 0.10);
}

TEST(NightGateCalibration, AStepIsFoundWithinThePlannedNights) {
    const Found found = share_found(25, 2, 0.008);
    EXPECT_GE(found.in_time, 0.6);
    EXPECT_GE(found.right_date, 0.8);
    EXPECT_LE(found.planned, 15U);
}

// The shares that README.md prints.
TEST(NightGateCalibrationSlow, SixtyCleanNightsAreQuiet) {
    for (const auto& [workloads, se, between] :
         {std::tuple{1U, 0.01, 0.0}, std::tuple{8U, 0.01, 0.0}, std::tuple{8U, 0.005, 0.01}}) {
        const double share = share_of_alarms(workloads == 1 ? 1000 : 200, workloads, se, between);
        std::printf("%u workloads, SE %.3f, between nights %.3f: %.4f of 60 clean nights alarm\n",
                    workloads, se, between, share);
        EXPECT_LE(share, 0.05) << workloads << " " << se << " " << between;
    }
}

TEST(NightGateCalibrationSlow, AStepIsFoundWithinThePlannedNights) {
    for (const double se : {0.003, 0.005, 0.008, 0.01, 0.012}) {
        const Found found = share_found(100, 8, se);
        std::printf("SE %.3f: -2%% planned within %zu nights: %.3f found, %.3f at the right date\n",
                    se, found.planned, found.in_time, found.right_date);
        EXPECT_GE(found.in_time, 0.72) << se;
        EXPECT_GE(found.right_date, 0.8) << se;
    }
}

}  // namespace
}  // namespace vsb::stats
