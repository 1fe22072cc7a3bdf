#include "reports/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/notes.h"
#include "reports/sample.h"
#include "reports/tables.h"
#include "reports/transfer.h"
#include "reports/workload_name.h"

namespace vsb::reports {
namespace {

using datasets::PairedSeries;
using datasets::PairOrder;

PairedSeries series(const std::string& workload, const std::string& metric, const std::string& unit,
                    bool higher, double a, double b, int pairs = 8) {
    PairedSeries s{workload, metric, unit, higher, {}, 0, 0, 0};
    for (int i = 0; i < pairs; ++i) {
        const double wobble = 1 + 0.001 * ((i * 5) % 7 - 3);
        s.pairs.push_back({i + 1, i % 2 == 0 ? PairOrder::ab : PairOrder::ba, a * wobble, b});
    }
    return s;
}

std::vector<std::string> codes(const std::vector<stats::Warning>& warnings) {
    std::vector<std::string> out;
    for (const stats::Warning& w : warnings)
        out.push_back(w.code);
    return out;
}

TEST(Compare, FirstSeriesOfAWorkloadIsItsHeadline) {
    const std::vector<PairedSeries> all = {series("fixed/64B", "throughput", "Gbit/s", true, 1, 2),
                                           series("fixed/64B", "recv_calls", "1", false, 100, 90),
                                           series("rtt/64B", "rtt_mean", "us", false, 200, 190)};
    const Comparison c = compare("name", all, {});
    ASSERT_EQ(c.rows.size(), 3U);
    EXPECT_TRUE(c.rows[0].headline);
    EXPECT_FALSE(c.rows[1].headline);
    EXPECT_TRUE(c.rows[2].headline);
    EXPECT_NEAR(c.rows[0].result.change, 1.0, 0.01);
    EXPECT_EQ(c.rows[0].result.verdict, stats::Verdict::faster);
    EXPECT_EQ(c.rows[2].result.verdict, stats::Verdict::faster);  // less time is better
    EXPECT_EQ(c.rows[2].result.better, stats::Better::lower);
    EXPECT_EQ(c.rows[0].result.n_ab, 4U);
    EXPECT_EQ(c.rows[0].result.n_ba, 4U);
}

// Three workloads that share their pairs, the last one a latency.
std::vector<PairedSeries> family() {
    std::vector<PairedSeries> all = {series("fixed/64B", "throughput", "Gbit/s", true, 1, 1.002),
                                     series("fixed/64B", "recv_calls", "1", false, 100, 99.9),
                                     series("fixed/4K", "throughput", "Gbit/s", true, 1, 1.001),
                                     series("rtt/64B", "rtt_mean", "us", false, 200, 199.9)};
    for (std::size_t s = 0; s < all.size(); ++s) {
        for (std::size_t i = 0; i < all[s].pairs.size(); ++i) {
            all[s].pairs[i].b *= 1 + 0.0007 * (static_cast<double>((i * i + 3 * s) % 5) - 2);
        }
    }
    return all;
}

TEST(Compare, AdjustsTheHeadlineRowsAndOnlyThose) {
    CompareOptions options;
    const Comparison plain = compare("n", family(), options);
    EXPECT_EQ(plain.adjust, "none");
    for (const Row& row : plain.rows) {
        EXPECT_FALSE(row.p_adjusted);
        EXPECT_FALSE(row.simultaneous);
    }
    const double p0 = *plain.rows[0].result.p;
    const double p2 = *plain.rows[2].result.p;
    const double p3 = *plain.rows[3].result.p;
    const double least = std::min({p0, p2, p3});

    options.adjust = "holm";
    const Comparison holm = compare("n", family(), options);
    EXPECT_EQ(holm.adjust, "holm");
    EXPECT_FALSE(holm.rows[1].p_adjusted) << "a count is no headline";
    double least_holm = 1;
    for (const std::size_t r : {0U, 2U, 3U}) {
        ASSERT_TRUE(holm.rows[r].p_adjusted);
        least_holm = std::min(least_holm, *holm.rows[r].p_adjusted);
        EXPECT_GE(*holm.rows[r].p_adjusted, *plain.rows[r].result.p);
    }
    EXPECT_NEAR(least_holm, std::min(1.0, 3 * least), 1e-12) << "three rows, not four";

    options.adjust = "bh";
    const Comparison bh = compare("n", family(), options);
    const double most = std::max({p0, p2, p3});
    double most_bh = 0;
    for (const std::size_t r : {0U, 2U, 3U})
        most_bh = std::max(most_bh, *bh.rows[r].p_adjusted);
    EXPECT_NEAR(most_bh, most, 1e-12) << "the greatest p stays";

    options.adjust = "maxt";
    options.simultaneous = true;
    const Comparison maxt = compare("n", family(), options);
    for (const std::size_t r : {0U, 2U, 3U}) {
        EXPECT_GE(*maxt.rows[r].p_adjusted, *plain.rows[r].result.p);
        ASSERT_TRUE(maxt.rows[r].simultaneous);
        EXPECT_LT(maxt.rows[r].simultaneous->low, maxt.rows[r].result.change);
        EXPECT_GT(maxt.rows[r].simultaneous->high, maxt.rows[r].result.change);
    }
    EXPECT_FALSE(maxt.rows[1].simultaneous);
    options.adjust = "bonferroni";
    EXPECT_THROW(compare("n", family(), options), std::invalid_argument);
}

TEST(Compare, ARowWithoutPIsNoMemberOfTheFamily) {
    std::vector<PairedSeries> all = family();
    for (auto& value : all[3].pairs)
        value = {value.pair, value.order, 200, 100};
    CompareOptions options;
    options.adjust = "holm";
    const Comparison c = compare("n", all, options);
    EXPECT_FALSE(c.rows[3].p_adjusted);
    const double least = std::min(*c.rows[0].result.p, *c.rows[2].result.p);
    EXPECT_NEAR(std::min(*c.rows[0].p_adjusted, *c.rows[2].p_adjusted), std::min(1.0, 2 * least),
                1e-12);
    options.adjust = "maxt";
    const Comparison m = compare("n", all, options);
    EXPECT_FALSE(m.rows[3].p_adjusted);
    EXPECT_TRUE(m.rows[0].p_adjusted);
}

// B is better in a latency when it is less.
TEST(Compare, TheTablesSignsCountWhatIsBetter) {
    const std::vector<PairedSeries> all = {series("a", "throughput", "Gbit/s", true, 1, 2),
                                           series("b", "throughput", "Gbit/s", true, 1, 2),
                                           series("c", "rtt_mean", "us", false, 200, 100)};
    const Comparison c = compare("n", all, {});
    ASSERT_TRUE(c.table_sign);
    EXPECT_EQ(c.table_sign->k, 3U);
    EXPECT_EQ(c.table_sign->n, 3U);
    EXPECT_FALSE(compare("n", std::vector{all[0]}, {}).table_sign) << "one row is no table";
}

// Places of a table are pairs of the same number, not the same place in their series.
TEST(Compare, RowsShareThePairsOfTheSameNumber) {
    std::vector<PairedSeries> all = family();
    CompareOptions all_rows;
    all_rows.simultaneous = true;
    const Comparison whole = compare("n", all, all_rows);
    std::vector<PairedSeries> shifted = all;
    for (auto& value : shifted[2].pairs)
        value.pair += 100;
    const Comparison apart = compare("n", shifted, all_rows);
    EXPECT_NE(whole.rows[2].simultaneous->high, apart.rows[2].simultaneous->high);
    std::swap(all[2].pairs[0], all[2].pairs[5]);
    const Comparison reordered = compare("n", all, all_rows);
    EXPECT_NEAR(whole.rows[2].simultaneous->high, reordered.rows[2].simultaneous->high, 1e-12);
}

TEST(Compare, OptionsReachTheStatistics) {
    CompareOptions options;
    options.method = stats::Method::paired_t;
    options.confidence = 0.9;
    options.margin = 0.5;
    const Comparison c = compare("n", std::vector{series("x", "v", "", true, 100, 100.1)}, options);
    EXPECT_EQ(c.rows[0].result.method, stats::Method::paired_t);
    EXPECT_EQ(c.rows[0].result.confidence, 0.9);
    EXPECT_EQ(c.rows[0].result.verdict, stats::Verdict::equivalent);
    EXPECT_EQ(c.margin, 0.5);
}

TEST(Compare, ZeroMeansNoChange) {
    PairedSeries drops = series("fixed/64B", "drops", "1", false, 4, 2);
    drops.pairs[0].b = 0;
    const std::vector<PairedSeries> all = {series("fixed/64B", "throughput", "Gbit/s", true, 1, 2),
                                           drops};
    const Comparison c = compare("n", all, {});
    EXPECT_EQ(c.rows.size(), 1U);
    ASSERT_EQ(c.means.size(), 1U);
    EXPECT_NEAR(c.means[0].a, 4, 0.02);
    EXPECT_DOUBLE_EQ(c.means[0].b, 1.75);
    EXPECT_TRUE(c.warnings.empty());  // of a count: nothing to warn of
}

TEST(Compare, ZeroInAHeadlineIsSaid) {
    PairedSeries s = series("x", "v", "", true, 4, 2);
    s.pairs[3].a = -1;
    const Comparison c = compare("n", std::vector{s}, {});
    EXPECT_TRUE(c.rows.empty());
    EXPECT_THAT(codes(c.warnings), testing::ElementsAre("no-ratio"));
}

TEST(Compare, TooFewPairsIsAWarningNotARow) {
    PairedSeries s = series("fixed/64B", "throughput", "Gbit/s", true, 1, 2, 1);
    s.lost_a = 3;
    PairedSeries second = series("fixed/64B", "recv_calls", "1", false, 1, 2, 1);
    second.lost_a = 3;
    const Comparison c = compare("n", std::vector{s, second}, {});
    EXPECT_TRUE(c.rows.empty());
    EXPECT_THAT(codes(c.warnings), testing::ElementsAre("too-few-pairs", "lost-runs"));
    EXPECT_THAT(c.warnings[0].text, testing::HasSubstr("fixed/64B: 1 whole pairs"));
    EXPECT_THAT(c.warnings[1].text, testing::HasSubstr("3 runs of A"));
}

TEST(Compare, LostAndSkippedPairsAreWarningsOfTheRow) {
    PairedSeries s = series("x", "v", "", true, 1, 2);
    s.lost_b = 7;
    s.skipped = 2;
    const Comparison c = compare("n", std::vector{s}, {});
    EXPECT_THAT(codes(c.rows[0].result.warnings),
                testing::IsSupersetOf({"lost-runs", "skipped-pairs"}));
    EXPECT_TRUE(std::any_of(
        c.rows[0].result.warnings.begin(), c.rows[0].result.warnings.end(), [](const auto& w) {
            return w.code == "lost-runs" && w.text.find("7 of B") != std::string::npos &&
                   w.text.find("B loses more") != std::string::npos;
        }));
}

TEST(Compare, NothingInNothingOut) {
    const Comparison c = compare("n", {}, {});
    EXPECT_TRUE(c.rows.empty());
    EXPECT_TRUE(c.warnings.empty());
    EXPECT_EQ(c.experiment, "n");
}

TEST(Attach, TakesOverTheRunsWarningsAndStatus) {
    Comparison c;
    datasets::ExperimentRecord record;
    record.pairs = 16;
    record.status = datasets::ExperimentStatus::interrupted;
    record.environment = {{"warning.cpus-shared", "too few CPUs"}, {"kernel", "6.1"}};
    attach(c, record);
    EXPECT_THAT(codes(c.warnings), testing::ElementsAre("cpus-shared", "not-finished"));
    EXPECT_EQ(c.warnings[0].text, "too few CPUs");
    EXPECT_FALSE(c.interim);
    ASSERT_TRUE(c.record);
    Comparison running;
    record.status = datasets::ExperimentStatus::running;
    attach(running, record);
    EXPECT_TRUE(running.interim);
}

TEST(WorkloadName, SplitsOffASize) {
    EXPECT_EQ(parse_workload("fixed/64B").kind, "fixed");
    EXPECT_EQ(parse_workload("fixed/64B").payload, "64B");
    EXPECT_EQ(parse_workload("a/b/64K").kind, "a/b");
    EXPECT_EQ(parse_workload("a/b").kind, "");
    EXPECT_EQ(parse_workload("a/b").payload, "a/b");
    EXPECT_EQ(parse_workload("/64B").kind, "");
    EXPECT_EQ(parse_workload("x/").payload, "x/");
    EXPECT_EQ(parse_workload("x/K").kind, "");
    EXPECT_EQ(parse_workload("").payload, "");
}

TEST(SizeText, MailSpelling) {
    EXPECT_EQ(size_text(64), "64B");
    EXPECT_EQ(size_text(1024), "1K");
    EXPECT_EQ(size_text(1500), "1500B");
    EXPECT_EQ(size_text(1LL << 31), "2G");
    EXPECT_EQ(size_text(0), "0B");
}

TEST(Tables, GroupByKindAndMetricHeadlinesFirst) {
    Comparison c = sample::full();
    Row tail = c.rows[0];
    tail.workload = "fixed/64B";
    tail.metric = "rtt_p99";
    tail.unit = "us";
    tail.headline = false;
    Row count = tail;
    count.metric = "lock_acquisitions";
    count.unit = "1";
    Row other = tail;
    other.metric = "whole_time";
    c.rows.insert(c.rows.begin() + 1, {tail, count, other});
    const std::vector<Table> all = tables(c);
    ASSERT_EQ(all.size(), 5U);
    EXPECT_EQ(all[0].kind, "fixed");
    EXPECT_EQ(all[0].rows.size(), 8U);
    EXPECT_EQ(all[1].kind, "matched");
    EXPECT_EQ(all[4].metric, "rtt_p99");
    ASSERT_NE(all[1].rows[4].count, nullptr);
    EXPECT_EQ(all[1].rows[4].count->result.a, 536799);
    EXPECT_EQ(all[2].rows[0].count, nullptr);
    const std::vector<const Row*> rest = rows_left_out(c);
    ASSERT_EQ(rest.size(), 18U);  // and recv_calls of 16 workloads
    EXPECT_EQ(rest[0]->metric, "lock_acquisitions");
    EXPECT_EQ(rest[1]->metric, "whole_time");
    c.record.reset();  // a file's metrics all have their table
    EXPECT_EQ(tables(c).size(), 6U);
}

std::string note_text(const Comparison& c, const std::string& code) {
    for (const Note& note : notes(c)) {
        if (note.code == code) return note.text;
    }
    return "";
}

TEST(Notes, SayAMatterOnce) {
    const Comparison c = sample::typical();
    EXPECT_EQ(
        note_text(c, "outliers"),
        "fixed/64B: 1 of 16 pairs lie far from the others (pair 3); they are kept; the like in "
        "fixed/64K");
    EXPECT_EQ(note_text(c, "zero-variance"), "");  // of counts: no news
}

TEST(Notes, NameTheRowsWhoseIntervalHolds0) {
    EXPECT_THAT(note_text(sample::full(), "interval-holds-0"),
                testing::StartsWith("the interval holds 0 in all rtt rows, cycles/64K: "));
    Comparison c = sample::full();
    c.margin = 0.05;
    for (Row& row : c.rows) {
        if (row.workload == "rtt/64B") row.result.verdict = stats::Verdict::equivalent;
    }
    EXPECT_EQ(note_text(c, "within-margin"),
              "shown to differ by less than the margin of 5%: rtt/64B");
    EXPECT_THAT(note_text(c, "interval-holds-0"), testing::HasSubstr("rtt/256B,4K, cycles/64K"));
}

TEST(Notes, OneTextForManyRowsNamesThem) {
    Comparison c = sample::full();
    for (Row& row : c.rows) {
        if (row.metric == "throughput") row.result.warnings = {{"drift", "it drifts"}};
    }
    EXPECT_EQ(note_text(c, "drift"), "all fixed rows, all matched rows: it drifts");
}

TEST(Transfer, NamesTheRuleOnlyWhereItHolds) {
    datasets::ExperimentRecord record = *sample::full().record;
    EXPECT_EQ(transfer_text(record),
              "2^20 writes, at most 2G a trial (payload/sent): fixed, matched, cycles 64B/64M, "
              "256B/256M, 512B/512M, 1K/1G, 4K/2G, 8K/2G, 16K/2G, 64K/2G; rtt 10,000 requests");
    record.workloads = {{1, "fixed/64B", "fixed", 64, 65536, 1000},
                        {2, "matched/64B", "matched", 64, 64, 2000},
                        {3, "rtt/64B", "rtt", 64, 0, 100},
                        {4, "rtt/4K", "rtt", 4096, 0, 200}};
    EXPECT_EQ(
        transfer_text(record),
        "payload/sent in a trial: fixed 64B/64000B; matched 64B/125K; rtt 100 to 200 requests");
    record.workloads[0].writes = INT64_MAX;
    EXPECT_THAT(transfer_text(record), testing::HasSubstr("64B/?"));
    record.workloads.clear();
    EXPECT_EQ(transfer_text(record), "");
}

}  // namespace
}  // namespace vsb::reports
