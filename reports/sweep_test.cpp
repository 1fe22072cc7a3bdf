#include "reports/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/gnuplot.h"
#include "reports/html.h"
#include "reports/sweep_json.h"
#include "reports/sweep_text.h"

namespace vsb::reports {
namespace {

using datasets::PairedSeries;
using datasets::PairOrder;
using testing::HasSubstr;
using testing::Not;

// Pairs whose changes lie at `change` with a little spread of their own.
PairedSeries series(const std::string& workload, double change, int pairs = 8) {
    PairedSeries s;
    s.workload = workload;
    s.metric = "throughput";
    s.unit = "Gbit/s";
    for (int i = 1; i <= pairs; ++i) {
        const double wobble = 1 + 0.004 * std::sin(i * 1.7 + change * 4000);
        s.pairs.push_back(
            {i, i % 2 == 0 ? PairOrder::ba : PairOrder::ab, 2, 2 * (1 + change) * wobble});
    }
    return s;
}

class SweepTest : public testing::Test {
  protected:
    void given(std::vector<PairedSeries> input) {
        input_ = std::move(input);
        comparison = compare("a sweep", input_, {});
        all = sweeps(comparison, input_, 5);
    }
    std::vector<PairedSeries> input_;
    Comparison comparison;
    std::vector<Sweep> all;
};

TEST_F(SweepTest, ACurveKnowsItsPeakAndWhatIsNotToldFromIt) {
    given({series("fixed/64B/max-pkts=1", 0.01), series("fixed/64B/max-pkts=8", 0.80),
           series("fixed/64B/max-pkts=64", 0.801), series("fixed/64B/max-pkts=1K", 0.5)});
    ASSERT_EQ(all.size(), 1U);
    const Sweep& sweep = all[0];
    ASSERT_EQ(sweep.axes.size(), 1U);
    EXPECT_EQ(sweep.axes[0].name, "max-pkts");
    EXPECT_EQ(sweep.axes[0].values, (std::vector<std::string>{"1", "8", "64", "1K"}));
    EXPECT_EQ(sweep.fixed, "64B");
    ASSERT_TRUE(sweep.best);
    EXPECT_EQ(sweep.best->candidate, (std::vector<bool>{false, true, true, false}));

    const std::string text = sweep_text(comparison, all, 100);
    EXPECT_THAT(text, HasSubstr("fixed, 64B: throughput (Gbit/s), higher is better"));
    EXPECT_THAT(text, HasSubstr("the greatest change is at max-pkts="));
    EXPECT_THAT(text, HasSubstr("not told from it at 95% over all points at once: max-pkts="));
    for (const char* row : {"1  2.0000", "+80.", "1K  2.0000"})
        EXPECT_THAT(text, HasSubstr(row));

    const auto json = nlohmann::json::parse(sweep_json(comparison, all));
    EXPECT_EQ(json["schema"], "vsockbench.sweep/1");
    ASSERT_EQ(json["points"].size(), 4U);
    EXPECT_EQ(json["points"][3]["parameters"]["max-pkts"], 1024);
    EXPECT_NEAR(json["points"][1]["change"], 0.8, 0.01);
    EXPECT_LT(json["points"][1]["ci"]["low"], json["points"][1]["ci"]["high"]);
    EXPECT_EQ(json["maximum"][0]["candidates"].size(), 2U);
    EXPECT_EQ(json["maximum"][0]["seed"], 5);

    const std::string csv = sweep_csv(comparison, all);
    EXPECT_THAT(csv, testing::StartsWith("kind,metric,unit,max-pkts,a,b,change,"));
    EXPECT_THAT(csv, HasSubstr("\nfixed,throughput,Gbit/s,1024,"));
    EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
}

TEST_F(SweepTest, TwoParametersMakeAGrid) {
    given({series("fixed/64B/batch=1,flows=1", 0.1), series("fixed/64B/batch=1,flows=2", 0.2),
           series("fixed/64B/batch=8,flows=1", 0.3), series("fixed/64B/batch=8,flows=2", 0.4)});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].axes.size(), 2U);
    EXPECT_EQ(point_text(all[0], 2), "batch=8, flows=1");
    const std::string text = sweep_text(comparison, all, 100);
    EXPECT_THAT(text, HasSubstr("batch \\ flows"));
    EXPECT_THAT(text, testing::ContainsRegex("8 +\\+(29|30)\\.[0-9]+% +\\+(39|40)\\.[0-9]+%\\*"));
    EXPECT_EQ(sweep_plot(all[0]).data.size(), 2U);  // a curve a value of batch
}

TEST_F(SweepTest, SaysWhatEndedTheBatches) {
    std::vector<PairedSeries> input{series("fixed/64B/flows=1", 0.5),
                                    series("fixed/64B/flows=2", 0.1)};
    const auto count = [&](std::string name, const char* metric, double a, double b) {
        PairedSeries s = series(name, 0);
        s.metric = metric;
        s.unit = "1";
        for (auto& pair : s.pairs) {
            pair.a = a;
            pair.b = b;
        }
        input.push_back(s);
    };
    count("fixed/64B/flows=1", "batches", 0, 100);
    count("fixed/64B/flows=1", "batched_packets", 0, 6250);
    count("fixed/64B/flows=1", "batch_end_ring_empty", 0, 3);
    count("fixed/64B/flows=1", "batch_end_max_pkts", 0, 97);
    count("fixed/64B/flows=1", "batch_end_sockmap", 0, 0);
    count("fixed/64B/flows=2", "batches", 1, 200);
    count("fixed/64B/flows=2", "batched_packets", 2, 210);
    count("fixed/64B/flows=2", "batch_end_flow_change", 1, 200);
    given(input);
    const std::string text = sweep_text(comparison, all, 80);
    EXPECT_THAT(text, HasSubstr("batches of A, and what ended them\n"
                                "  flows=2: mean 2.0 packets; flow-change 100%\n\n"
                                "batches of B, and what ended them\n"
                                "  flows=1: mean 62.5 packets; max-pkts 97%, ring-empty 3%\n"
                                "  flows=2: mean 1.1 packets; flow-change 100%\n"));
}

TEST_F(SweepTest, PayloadsAreAnAxisAndOtherWorkloadsAreNoSweep) {
    given({series("fixed/64B", 0.1), series("fixed/1K", 0.2), series("matched/64B", 0.2)});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].axes[0].name, "payload");
    EXPECT_FALSE(has_points(comparison));
    const auto json = nlohmann::json::parse(sweep_json(comparison, all));
    EXPECT_EQ(json["points"][1]["parameters"]["payload"], 1024);
    given({series("one row of a file", 0.1), series("another", 0.2)});
    EXPECT_TRUE(all.empty());
}

TEST_F(SweepTest, ABestIsNotNamedWherePairsDoNotSufficeOrTheRunIsUnderWay) {
    given({series("fixed/64B/batch=1", 0.1, 3), series("fixed/64B/batch=2", 0.2, 3)});
    ASSERT_FALSE(all[0].best);
    EXPECT_THAT(best_text(comparison, all[0]), HasSubstr("not known"));
    EXPECT_THAT(sweep_csv(comparison, all), HasSubstr(",,,\n"));
    EXPECT_EQ(nlohmann::json::parse(sweep_json(comparison, all))["points"][0]["best"], nullptr);
    comparison.interim = true;
    all = sweeps(comparison, input_, 5);
    EXPECT_FALSE(all[0].best);
    EXPECT_EQ(nlohmann::json::parse(sweep_json(comparison, all))["points"][0]["p"], nullptr);
    EXPECT_THAT(sweep_text(comparison, all, 80), HasSubstr("INTERIM"));
}

TEST_F(SweepTest, ThePlotHoldsLabelsAsDataAndIsDrawn) {
    given({series("fixed/64B/batch=1,kind=`x`", 0.1), series("fixed/64B/batch=2,kind=`x`", 0.2),
           series("fixed/64B/batch=512,kind=`x`", 0.25), series("fixed/64B/batch=1,kind=y", 0.3)});
    std::ranges::reverse(all[0].axes);  // the odd name is the axis now
    const Plot plot = sweep_plot(all[0]);
    EXPECT_THAT(plot.script, Not(HasSubstr("`")));
    for (const PlotData& data : plot.data)
        EXPECT_THAT(data.text, Not(HasSubstr("`")));
    given({series("fixed/64B/batch=1", 0.1), series("fixed/64B/batch=64", 0.2)});
    EXPECT_THAT(sweep_plot(all[0]).script, HasSubstr("set logscale x 2"));
    EXPECT_THAT(sweep_plot(all[0]).script, Not(HasSubstr("MODEL")));
    all[0].model = true;
    EXPECT_THAT(sweep_plot(all[0]).script, HasSubstr("ylabel 'MODEL: change"));
    const Drawing drawing = gnuplot()(sweep_plot(all[0]));
    ASSERT_EQ(drawing.error, "");
    EXPECT_THAT(drawing.svg, HasSubstr("batch (log scale)"));
    HtmlExtras extras;
    extras.series = input_;
    extras.sweeps = all;
    extras.plotter = gnuplot();
    const std::string page = html(comparison, extras);
    EXPECT_THAT(page, HasSubstr("fixed over batch"));
    EXPECT_THAT(page, HasSubstr("the greatest change is at batch=64"));
}

}  // namespace
}  // namespace vsb::reports
