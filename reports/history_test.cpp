#include "reports/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "reports/golden.h"
#include "reports/history_csv.h"
#include "reports/history_html.h"
#include "reports/history_json.h"
#include "reports/history_plot.h"
#include "reports/history_sample.h"
#include "reports/history_text.h"
#include "reports/markup.h"

namespace vsb::reports {
namespace {

using datasets::ExperimentRecord;
using datasets::ExperimentStatus;
using sample::night_record;
using sample::night_series;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kSe = 0.005;

double quiet(std::size_t workload, std::size_t day) {
    return 0.6 + sample::scattered(workload, day, kSe);
}

// fixed/64B loses 2% from day 40 on.
double stepped(std::size_t workload, std::size_t day) {
    return quiet(workload, day) + (workload == 0 && day >= 40 ? std::log(0.98) : 0);
}

History step_history(const HistoryOptions& options = {}) {
    return sample::nights(50, stepped, kSe, options);
}

std::vector<datasets::PairedSeries> both(const ExperimentRecord& record) {
    return {night_series(record, 0, 0.1, 0.01), night_series(record, 1, 0.2, 0.01)};
}

TEST(History, EstimatesAreTheCrossovers) {
    const auto history = sample::nights(
        3,
        [](std::size_t w, std::size_t day) {
            return w == 0 ? 0.1 * static_cast<double>(day) : -0.3;
        },
        0.02);
    ASSERT_EQ(history.workloads.size(), 2U);
    const HistoryWorkload& fixed = history.workloads[0];
    EXPECT_EQ(fixed.metric, "throughput");
    EXPECT_EQ(fixed.better, stats::Better::higher);
    EXPECT_EQ(history.workloads[1].better, stats::Better::lower);
    ASSERT_EQ(fixed.points.size(), 3U);
    EXPECT_NEAR(fixed.points[2].log_ratio, 0.2, 1e-12);
    EXPECT_NEAR(fixed.points[2].change, std::exp(0.2) - 1, 1e-12);
    EXPECT_NEAR(fixed.points[2].se, 0.02, 1e-12);
    EXPECT_NEAR(fixed.points[2].ci.low, std::exp(0.2 - 2.446911851144969 * 0.02) - 1, 1e-9);
    EXPECT_EQ(fixed.points[2].pairs, 8U);
    EXPECT_EQ(history.a_spec, "policy=per-packet");
    EXPECT_EQ(date_of(history.nights[2].started), "2026-09-03");
}

// What does not belong is left out with its reason, whole or in part.
TEST(History, SaysWhatItLeavesOutAndWhy) {
    std::vector<ExperimentRecord> all;
    for (std::size_t day = 0; day < 9; ++day)
        all.push_back(night_record(day));
    all[0].status = ExperimentStatus::interrupted;
    all[1].status = ExperimentStatus::running;
    all[2].states[0].spec = "policy=lock-batch";
    all[3].target = "host";
    all[4].workloads[0].writes = 7;
    all[5].workloads = {all[5].workloads[1]};
    all[5].workloads[0].recv_bytes = 9;
    all[6].status = ExperimentStatus::failed;
    all[7].name = "another";
    HistoryBuilder builder(all, "nightly", {});
    std::vector<datasets::Id> chosen;
    for (const auto* record : builder.chosen()) {
        chosen.push_back(record->id);
        auto series = both(*record);
        if (record->id == 7) series[1].pairs.resize(3);
        builder.add(*record, series);
    }
    EXPECT_THAT(chosen, ElementsAre(5, 7, 9));
    const History history = builder.finish();
    std::string why;
    for (const LeftOut& left : history.left_out)
        why += std::to_string(left.experiment) + " " + left.why + "\n";
    EXPECT_THAT(why, HasSubstr("1 it was interrupted"));
    EXPECT_THAT(why, HasSubstr("2 it is being run"));
    EXPECT_THAT(why, HasSubstr("3 another baseline: A is 'policy=lock-batch'"));
    EXPECT_THAT(why, HasSubstr("4 target host"));
    EXPECT_THAT(why, HasSubstr("5 in part: fixed/64B: 7 writes, the newest has 1000"));
    EXPECT_THAT(why, HasSubstr("6 rtt/4K: another kind, payload or recv() size"));
    EXPECT_THAT(why, HasSubstr("7 in part: rtt/4K: fewer than two whole pairs"));
    EXPECT_EQ(history.left_out.size(), 7U) << why;
    EXPECT_EQ(history.workloads[0].points.size(), 2U);
    EXPECT_EQ(history.workloads[1].points.size(), 2U);
    EXPECT_EQ(history.nights.size(), 3U);
    try {
        HistoryBuilder(all, "nightlly", {});
        ADD_FAILURE();
    } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(), HasSubstr("newest first: nightly, another"));
    }
}

TEST(History, SinceAndLastAndTheOrderOfDates) {
    std::vector<ExperimentRecord> all;
    for (const std::size_t day : {5U, 0U, 3U, 9U, 7U})
        all.push_back(night_record(day));
    const auto ids = [&](const HistoryOptions& options) {
        std::vector<datasets::Id> out;
        const HistoryBuilder builder(all, "nightly", options);
        for (const auto* record : builder.chosen())
            out.push_back(record->id);
        return out;
    };
    EXPECT_THAT(ids({}), ElementsAre(1, 4, 6, 8, 10));
    HistoryOptions since;
    since.since = "2026-09-06";
    EXPECT_THAT(ids(since), ElementsAre(6, 8, 10));
    since.last = 2;
    EXPECT_THAT(ids(since), ElementsAre(8, 10));
    HistoryBuilder builder(all, "nightly", since);
    EXPECT_EQ(builder.finish().before_since, 3U);
}

TEST(History, AnAlarmNamesWorkloadDateSizeAndCommits) {
    History history = step_history();
    ASSERT_EQ(history.alarms.size(), 1U);
    Alarm& alarm = history.alarms[0];
    EXPECT_EQ(alarm.kind, Alarm::Kind::step);
    EXPECT_EQ(alarm.workload, 0U);
    EXPECT_EQ(alarm.first, 40U);
    EXPECT_EQ(alarm.before, 39U);
    EXPECT_NEAR(alarm.worse.change, -0.02, 0.006);
    note_environment(alarm, {{"kernel", "6.1"}, {"smt", "on"}, {"governor", "x"}},
                     {{"kernel", "6.2"}, {"smt", "on"}, {"turbo", "off"}});
    const std::string text = alarm_text(history, alarm);
    EXPECT_THAT(text, HasSubstr("fixed/64B throughput: step of -"));
    EXPECT_THAT(text, HasSubstr("since the night of 2026-10-11 (experiment 41)"));
    EXPECT_THAT(text, HasSubstr("commits c39..c40"));
    EXPECT_THAT(text, HasSubstr("; also kernel: 6.1 -> 6.2"));
    EXPECT_EQ(text.find("smt"), std::string::npos);
    EXPECT_THAT(state_text(history), HasSubstr("1 of 2 workloads is worse"));
    // Known and accepted: no alarm, and the change stays on the record.
    HistoryOptions accepted;
    accepted.accepted = "2026-10-11";
    const History known = step_history(accepted);
    EXPECT_TRUE(known.alarms.empty());
    EXPECT_EQ(known.workloads[0].gate.changes.size(), 1U);
    accepted.accepted = "2026-10-10";
    EXPECT_EQ(step_history(accepted).alarms.size(), 1U);
}

TEST(History, ADropIsTonightsOrNone) {
    const auto fall = [](std::size_t w, std::size_t day) {
        return quiet(w, day) - (w == 0 && day == 20 ? 0.2 : 0);
    };
    const History tonight = sample::nights(21, fall, kSe);
    ASSERT_EQ(tonight.alarms.size(), 1U);
    EXPECT_EQ(tonight.alarms[0].kind, Alarm::Kind::drop);
    EXPECT_THAT(alarm_text(tonight, tonight.alarms[0]), HasSubstr("tonight -18"));
    EXPECT_TRUE(sample::nights(22, fall, kSe).alarms.empty());
    // A night that could not be measured is not judged by the one before it.
    std::vector<ExperimentRecord> all;
    for (std::size_t day = 0; day < 22; ++day)
        all.push_back(night_record(day));
    HistoryBuilder builder(all, "nightly", {});
    for (const auto* record : builder.chosen()) {
        const auto day = static_cast<std::size_t>(record->id) - 1;
        std::vector<datasets::PairedSeries> series{
            night_series(*record, 1, quiet(1, day), kSe / sample::kPatternSe)};
        if (day < 21) {
            series.push_back(night_series(*record, 0, fall(0, day), kSe / sample::kPatternSe));
        }
        builder.add(*record, series);
    }
    EXPECT_TRUE(builder.finish().alarms.empty());
}

TEST(History, SaysWhenTheGateCannotFail) {
    const History young = sample::nights(6, quiet, kSe);
    ASSERT_EQ(young.warnings.size(), 1U);
    EXPECT_EQ(young.warnings[0].code, "gate-not-armed");
    EXPECT_THAT(state_text(young), HasSubstr("too young to find a step"));
    const History blunt = sample::nights(
        40, [](std::size_t w, std::size_t day) { return sample::scattered(w, day, 0.05); }, 0.05);
    ASSERT_EQ(blunt.warnings.size(), 1U);
    EXPECT_EQ(blunt.warnings[0].code, "gate-blind");
    EXPECT_THAT(state_text(blunt), HasSubstr("not found within 30 nights"));
    const History sharp = sample::nights(40, quiet, kSe);
    EXPECT_TRUE(sharp.warnings.empty());
    EXPECT_THAT(state_text(sharp),
                HasSubstr("quiet; 2 workloads, 40 nights; a step of 1% is found"));
}

// Nights without any spread have no SE: they are shown, and the gate does not use them.
TEST(History, NightsWithoutSpreadAreNotJudged) {
    const History history = sample::nights(12, quiet, 0);
    EXPECT_EQ(history.workloads[0].points.size(), 12U);
    EXPECT_TRUE(history.workloads[0].usable.empty());
    EXPECT_FALSE(history.workloads[0].gate.step_armed);
    EXPECT_THAT(history_text(history), HasSubstr("2026-09-12"));
    EXPECT_NE(history_html(history, {}).find("too young"), std::string::npos);
}

TEST(HistoryText, SummaryIsOneLineWhenAllIsWell) {
    const std::string well = history_summary(sample::nights(40, quiet, kSe));
    EXPECT_EQ(std::count(well.begin(), well.end(), '\n'), 1);
    EXPECT_THAT(well, testing::StartsWith("nightly 2026-10-10 (experiment 40): quiet; "));
    const std::string bad = history_summary(step_history());
    EXPECT_EQ(std::count(bad.begin(), bad.end(), '\n'), 2) << bad;
    EXPECT_THAT(bad, HasSubstr("\n  fixed/64B throughput: step of -"));
}

TEST(HistoryText, FitsItsColumns) {
    const History history = step_history();
    for (const std::size_t width : {60U, 72U, 100U}) {
        std::istringstream in(history_text(history, width));
        for (std::string line; std::getline(in, line);)
            EXPECT_LE(line.size(), width) << line;
    }
    const std::string text = history_text(history);
    EXPECT_THAT(text, HasSubstr("<- step"));
    EXPECT_THAT(text, HasSubstr("changes (E-divisive): 2026-10-11 -"));
    EXPECT_THAT(text, HasSubstr("changes (PELT): 2026-10-11 -"));
    EXPECT_THAT(text, HasSubstr("no change of level found"));
}

TEST(HistoryCsv, OneLineAWorkloadAndNight) {
    const std::string text = history_csv(step_history());
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 101);
    EXPECT_THAT(text,
                HasSubstr("\nfixed/64B,throughput,Gbit/s,higher,2026-10-11T02:00:00.000Z,41,c40,"));
    EXPECT_EQ(std::count(text.begin(), text.end(), 'E'),
              1);  // one change of E-divisive, and of PELT
    EXPECT_THAT(text, HasSubstr(",8,EP\n"));
}

TEST(HistoryPage, IsWellFormedAndStandsAlone) {
    const History history = step_history();
    const Plotter drawn = [](const Plot&) {
        return Drawing{"<svg viewBox=\"0 0 1 1\"><g id='a'/></svg>", ""};
    };
    const std::string text = history_html(history, drawn);
    const Markup page = read_markup(text, {"meta"});
    EXPECT_EQ(page.error, "");
    const auto svgs = std::ranges::count(page.elements, "svg", &Element::name);
    EXPECT_EQ(svgs, 2);
    for (const Element& element : page.elements) {
        EXPECT_NE(element.name, "script");
        EXPECT_FALSE(element.attributes.contains("src"));
        EXPECT_FALSE(element.attributes.contains("onclick"));
    }
    EXPECT_LT(text.find("class=\"interim\""), text.find("<table"));
    EXPECT_THAT(history_html(history, {}), HasSubstr("Some plots are missing"));
}

TEST(TrendPlot, HoldsNumbersOnly) {
    History history = step_history();
    history.workloads[0].name = "`touch x`";
    Plot plot = trend_plot(history, 0);
    EXPECT_EQ(plot.script.find("touch"), std::string::npos);
    EXPECT_THAT(plot.script, HasSubstr("#d0524a"));  // the alarm's rule
    for (const PlotData& data : plot.data)
        EXPECT_EQ(data.text.find_first_not_of("0123456789.-+e\t\n"), std::string::npos)
            << data.text;
    EXPECT_EQ(std::count(plot.data[0].text.begin(), plot.data[0].text.end(), '\n'), 50);
    // A date that is none is no point; many nights become fewer.
    history.nights[3].started = "20`6-09-04T02:00:00Z";
    plot = trend_plot(history, 0);
    EXPECT_EQ(std::count(plot.data[0].text.begin(), plot.data[0].text.end(), '\n'), 49);
    const History longer = sample::nights(1000, quiet, kSe);
    plot = trend_plot(longer, 1);
    EXPECT_EQ(std::count(plot.data[0].text.begin(), plot.data[0].text.end(), '\n'), 400);
}

TEST(HistoryGolden, Text) {
    const std::string diff = golden_diff("history.txt", history_text(step_history(), 100, 12));
    EXPECT_TRUE(diff.empty()) << diff;
}

TEST(HistoryGolden, Json) {
    const std::string diff =
        golden_diff("history.json", history_json(sample::nights(2, quiet, kSe)));
    EXPECT_TRUE(diff.empty()) << diff;
}

}  // namespace
}  // namespace vsb::reports
