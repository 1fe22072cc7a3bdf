#include "reports/audit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/audit_json.h"
#include "reports/audit_text.h"
#include "reports/cover_letter.h"
#include "reports/markdown.h"
#include "reports/published.h"
#include "reports/sample.h"
#include "reports/text_table.h"
#include "stats/reference_data.h"

namespace vsb::reports {
namespace {

using stats::Consistency;
using testing::HasSubstr;

datasets::PublishedSeries series_of(const char* name) {
    const auto* const file = datasets::find_published(name);
    if (file == nullptr) throw std::invalid_argument(name);
    return datasets::parse_published(file->name, file->csv);
}

const AuditedRow& only(const Audit& audit) {
    if (audit.rows.size() != 1) throw std::logic_error(audit_text(audit));
    return audit.rows.front();
}

constexpr const char* kRow = "  64B  0.1290  0.2489  +92.91% [+89.31%, +96.58%]\n";

TEST(Audit, BothVsockSeriesAreConsistent) {
    const Audit v5 = audit(published_tables(series_of("vsock-rx-batching-v5")));
    EXPECT_EQ(v5.rows.size(), 75U);
    EXPECT_EQ(v5.consistent, 75U) << audit_text(v5);
    const Audit v1 = audit(published_tables(series_of("vsock-rx-batching-v1")));
    EXPECT_EQ(v1.rows.size(), 14U);
    EXPECT_EQ(v1.consistent, 14U) << audit_text(v1);
    for (const Audit& found : {v5, v1}) {
        for (const AuditedRow& row : found.rows) {
            EXPECT_TRUE(row.printed.a && row.printed.b && row.printed.low && row.printed.high);
        }
    }
}

// The text of a figure with its number moved: "+92.91%" by 2 units is "+92.93%".
std::string moved(const std::string& figure, long units) {
    const std::size_t decimals = figure.size() - figure.find('.') - 2;
    const double unit = std::pow(10, -static_cast<double>(decimals));
    const double value = std::stod(figure) + static_cast<double>(units) * unit;
    return fmt::format("{:+.{}f}%", value, decimals);
}

// Every row of the series with one figure of it moved: that row and no other is named.
std::size_t expect_named(
    const char* name, const char* column,
    const std::function<std::vector<std::string>(const std::map<std::string, std::string>&)>&
        moves) {
    auto series = series_of(name);
    std::size_t index = 0;
    std::size_t tried = 0;
    for (auto& table : series.tables) {
        for (auto& row : table.rows) {
            const std::string kept = row.figures.at(column);
            for (const std::string& wrong : moves(row.figures)) {
                row.figures[column] = wrong;
                const Audit found = audit(published_tables(series));
                EXPECT_EQ(found.inconsistent, 1U)
                    << name << " row " << index << ": " << column << " " << kept << " -> " << wrong;
                EXPECT_EQ(found.rows.at(index).check.verdict, Consistency::inconsistent)
                    << name << " row " << index << ": " << column << " " << kept << " -> " << wrong;
                EXPECT_THAT(found.rows.at(index).check.reason, HasSubstr("would agree"));
                ++tried;
            }
            row.figures[column] = kept;
            ++index;
        }
    }
    return tried;
}

TEST(Audit, AChangeMovedByTwoUnitsIsNamed) {
    const auto two_units = [](const std::map<std::string, std::string>& row) {
        return std::vector{moved(row.at("change"), 2), moved(row.at("change"), -2)};
    };
    EXPECT_EQ(expect_named("vsock-rx-batching-v5", "change", two_units), 150U);
    EXPECT_EQ(expect_named("vsock-rx-batching-v1", "change", two_units), 28U);
}

TEST(Audit, ABoundMovedByATwentiethOfItsIntervalIsNamed) {
    for (const char* bound : {"low", "high"}) {
        const auto a_twentieth = [bound](const std::map<std::string, std::string>& row) {
            const double width = std::stod(row.at("high")) - std::stod(row.at("low"));
            const long units = std::lround(width * 100 / 20);
            return std::vector{moved(row.at(bound), units), moved(row.at(bound), -units)};
        };
        EXPECT_EQ(expect_named("vsock-rx-batching-v5", bound, a_twentieth), 150U);
        EXPECT_EQ(expect_named("vsock-rx-batching-v1", bound, a_twentieth), 28U);
    }
}

TEST(Audit, WhatWouldAgreeIsNamed) {
    const auto reason = [](const char* text) { return only(audit(text)).check.reason; };
    EXPECT_EQ(reason("64B 0.1290 0.2489 +92.19% [+89.31%, +96.58%]"),
              "the change is +92.19%, the interval [+89.31%, +96.58%] has its middle at +92.91% to "
              "+92.92%, the means 0.1290 and 0.2489 give +92.83% to +93.06%: a change of +92.91% "
              "would agree");
    EXPECT_EQ(reason("64B 0.1290 0.2489 +92.91% [+88.31%, +96.58%]"),
              "the change is +92.91%, the interval [+88.31%, +96.58%] has its middle at +92.40% to "
              "+92.41%: a lower bound of +89.31% or an upper bound of +97.62% would agree");
    EXPECT_EQ(reason("64B 0.1390 0.2489 +92.91% [+89.31%, +96.58%]"),
              "the change is +92.91%, the means 0.1390 and 0.2489 give +78.96% to +79.17%: a first "
              "mean of 0.1290 or a second mean of 0.2681 would agree");
    EXPECT_EQ(reason("64B 10.0 12.0 +30.0%"),
              "the change is +30.0%, the means 10.0 and 12.0 give +18.9% to +21.1%: a change of "
              "+20.0%, a first mean of 9.2 or a second mean of 13.0 would agree");
    EXPECT_EQ(reason("64B +5.00% [+6.00%, +4.00%]"),
              "the bounds +6.00% and +4.00% stand in the wrong order");
}

TEST(Audit, FormsOfARow) {
    for (const char* text :
         {kRow, "> 64B  0.1290  0.2489  +92.91% [+89.31%, +96.58%]\n",
          "> > 64B  0.1290  0.2489  +92.91%\n> >    [+89.31%, +96.58%]\n",
          "| 64B | 0.1290 | 0.2489 | **+92.91%** [+89.31%, +96.58%] | 16/16 | <0.001 | faster |",
          "64B 0.1290 0.2489 +92.91 % [ +89.31 %, +96.58 % ] 1048577/1048577\r\n",
          "64B 0.1290 0.2489 +92.91\n% [+89.31%, +96.58%]",
          "64B 0.1290 0.2489 +92.91% [+89.31%,\n+96.58%] 1048577/1048577",
          "64B 0.1290 0.2489 +92.91% [+89.31\n%, +96.58%] 1048577/1048577",
          "64B 0.1290 0.2489\n  +92.91% [+89.31%, +96.58%]",
          "64B 0.1290 0.2489 +92.91% +89.31% to +96.58%",
          "64B 0.1290 0.2489 +92.91% (95% CI: +89.31% to +96.58%)",
          "64B 0.1290 0.2489 +92.91% [+89.31, +96.58]%",
          "64B 0.1290Gbit/s 0.2489Gbit/s (+92.91%) [+89.31%, +96.58%]",
          "- 64B: 0.1290 -> 0.2489 Gbit/s, +92.91% [+89.31%; +96.58%].",
          "64 B 0.1290 0.2489 92.91% [89.31%, 96.58%]",
          "payload from 0.1290 to 0.2489 (+92.91%, see below) +92.91% [+89.31%, +96.58%]",
          "64B\t0.1290\t0.2489\t+92.91%[+89.31%,+96.58%]",
          "64B 16 0.1290 0.0012 0.2489 0.0031 +92.91% [+89.31%, +96.58%]"}) {
        const Audit found = audit(text);
        ASSERT_EQ(found.rows.size(), 1U) << text << audit_text(found);
        EXPECT_EQ(found.consistent, 1U) << text << audit_text(found);
        EXPECT_TRUE(found.rows[0].printed.low && found.rows[0].printed.a) << text;
        EXPECT_NEAR(found.rows[0].printed.a->value, 0.1290, 1e-12) << text;
        EXPECT_NEAR(found.rows[0].printed.high->value, 0.9658, 1e-12) << text;
    }
    EXPECT_NEAR(only(audit("64B 2.0 1.0 \xe2\x88\x92"
                           "50% [\xe2\x88\x92"
                           "60%, \xe2\x88\x92"
                           "38%]"))
                    .printed.change->value,
                -0.5, 1e-12);
}

TEST(Audit, MeansAsAPair) {
    EXPECT_EQ(audit("wakeups 331/68 -79.5%\n").consistent, 1U);
    EXPECT_EQ(audit("wakeups 331/68 -89.5%\n").inconsistent, 1U);
    EXPECT_EQ(audit("wakeups 68/331 +386.8%\n").consistent, 1U);
    EXPECT_EQ(audit("wakeups 68/331 +300%\n").not_checkable, 1U);
    EXPECT_EQ(audit("wakeups base/patch\nirq 68/331 +300%\n").inconsistent, 1U);
    // A column of k/n is none.
    const Audit counts = audit("  256 B  10/10  -3.846%\n  4 KiB   8/10  -2.162%\n");
    EXPECT_EQ(counts.not_checkable, 2U) << audit_text(counts);
}

TEST(Audit, LinesOneBelowTheOther) {
    EXPECT_EQ(audit("Before: 245.2 MB/s\nAfter: 509.2 MB/s (+108%)\n").consistent, 1U);
    // Cut off where it was to be rounded.
    EXPECT_THAT(only(audit("Before: 245.2 MB/s\nAfter: 509.2 MB/s (+107%)\n")).check.reason,
                HasSubstr("give +108%: a change of +108%"));
    EXPECT_TRUE(audit("Before: 245.2 MB/s\n\nAfter: 509.2 MB/s (+107%)\n").rows.empty());
}

TEST(Audit, IntervalsInATableOfTheirOwn) {
    const Audit v3 =
        audit(published_tables(series_of("vhost-vsock-used-ring-v3")), AuditOptions{20, {}, {}});
    EXPECT_EQ(v3.rows.size(), 10U) << audit_text(v3);
    EXPECT_EQ(v3.consistent, 4U) << audit_text(v3);
    EXPECT_EQ(v3.not_checkable, 6U) << audit_text(v3);
    EXPECT_EQ(v3.rows.at(3).label, "64 KiB");
    // z: the caption says normal approximation.
    EXPECT_NEAR(v3.rows.at(3).check.se.value(),
                (std::log(1.03745) - std::log(0.98526)) / 2 / 1.959963984540054, 1e-12);
    auto wrong = series_of("vhost-vsock-used-ring-v3");
    wrong.tables.at(1).rows.at(2).figures["low"] = "-1.542%";
    EXPECT_EQ(audit(published_tables(wrong)).rows.at(2).check.verdict, Consistency::inconsistent);
}

TEST(Audit, OtherSeries) {
    const Audit net = audit(published_tables(series_of("vhost-net-rx-batching-v2")));
    EXPECT_EQ(net.rows.size(), 2U) << audit_text(net);
    EXPECT_EQ(net.consistent, 2U) << audit_text(net);
}

TEST(Audit, WhatIsNoRow) {
    for (const char* text :
         {"", "\n\n", "Throughput rises by +92.91% in all.\n", "similarity index 95%\n",
          " foo.c | 12 +-\n", "payload  baseline RX  PATCH RX  throughput change (95% CI)\n",
          "  no batching   1.88Mpps\n  RX_BATCH=1    1.93Mpps\n", "Linux 6.1.0 has 5% and 10%\n",
          "it went from 3 to 4 apples, +33.33% of them\n"}) {
        EXPECT_TRUE(audit(text).rows.empty()) << text << audit_text(audit(text));
    }
}

TEST(Audit, NotCheckableIsAnAnswer) {
    EXPECT_EQ(only(audit("64B 1.0Gbit/s 900Mbit/s -10.00%")).check.reason,
              "the two means are in different units");
    EXPECT_EQ(only(audit("64B 1.00 2.00 3.00 +5.0%")).check.reason,
              "of the numbers before the change it is not clear which are the means");
    const Audit alone = audit("256B  -3.8%\n4K  -2.1%\n");
    EXPECT_EQ(alone.not_checkable, 2U);
    EXPECT_FALSE(alone.rows.at(0).check.reason.empty());
}

TEST(Audit, CaptionsLabelsAndLines) {
    const Audit found = audit(
        "With all applied:\n\nRX throughput (64K recv(),\nGbit/s):\n\n"
        "  payload  base  patch  change (90% CI)\n           (G)  (G)\n" +
        std::string(kRow) + "  256 B  0.5780  0.9727  +68.29% [+66.14%, +70.48%]\n\n" +
        "### rtt (us)\n\n| payload | A | B |\n| --: | --: |\n| 4K | 10.0 | 11.0 | +10.0% |\n" +
        "Third:\n1K 10.0 11.0 +10.0%\n");
    ASSERT_EQ(found.rows.size(), 4U) << audit_text(found);
    EXPECT_EQ(found.rows[0].caption, "RX throughput (64K recv(), Gbit/s):");
    EXPECT_EQ(found.rows[0].label, "64B");
    EXPECT_EQ(found.rows[0].line, 8U);
    EXPECT_EQ(found.rows[1].label, "256 B");
    EXPECT_EQ(found.rows[2].caption, "rtt (us)");
    EXPECT_EQ(found.rows[3].caption, "Third:");
}

TEST(Audit, PairsAndConfidenceAreThoseTheTextSays) {
    const std::string row(kRow);
    const auto pairs = [&](const std::string& text, const AuditOptions& options = {}) {
        return only(audit(text + "\n\n" + row, options)).pairs;
    };
    EXPECT_EQ(pairs("with 16\nbalanced AB/BA pairs per payload"), 16U);
    EXPECT_EQ(pairs("20 paired runs, 10 in each order"), 20U);
    EXPECT_EQ(pairs("16 pairs; 2 of 12 pairs were lost"), 16U);
    EXPECT_EQ(pairs("16 pairs. Now 15 to 16 pairs per workload"), std::nullopt);
    EXPECT_EQ(pairs("nothing about it"), std::nullopt);
    EXPECT_EQ(pairs("16 pairs", AuditOptions{20, {}, {}}), 20U);
    EXPECT_EQ(only(audit("64B 0.1290 0.2489 +92.91% [+89.31%, +96.58%] 8+7 <0.001")).pairs, 15U);
    // t(0.95, 14) and t(0.975, 14).
    const double width = (std::log(1.9658) - std::log(1.8931)) / 2;
    EXPECT_NEAR(only(audit("16 pairs, change (90% CI)\n" + row)).check.se.value(),
                width / 1.7613101357748562, 1e-12);
    EXPECT_NEAR(only(audit("16 pairs\n" + row)).check.se.value(), width / 2.144786687917804, 1e-12);
}

TEST(Audit, OurOwnReportsAreConsistent) {
    for (const auto& sample : {sample::full(), sample::typical()}) {
        const Audit letter = audit(cover_letter(sample));
        EXPECT_EQ(letter.consistent, letter.rows.size()) << audit_text(letter);
        EXPECT_GE(letter.rows.size(), 8U);
        EXPECT_EQ(audit(markdown(sample)).consistent, letter.rows.size());
        const Audit screen = audit(text_table(sample));
        EXPECT_EQ(screen.inconsistent, 0U) << audit_text(screen);
        EXPECT_EQ(screen.consistent, letter.rows.size()) << audit_text(screen);
    }
}

// Ranks and the bootstrap make intervals that need not lie around the change.
TEST(Audit, OtherIntervalsAreNotCheckable) {
    const std::string row = "  64B  +51.30% [+49.11%, +54.33%]\n  4K  +49.83% [+47.22%, +52.52%]\n";
    const std::string head = "10 pairs; crossover-t, 95% intervals\n\n  payload  ";
    EXPECT_EQ(audit(head + "change [95% CI]\n" + row).inconsistent, 2U);
    const Audit ranks = audit(head + "Hodges-Lehmann [95% CI]\n" + row);
    EXPECT_EQ(ranks.not_checkable, 2U) << audit_text(ranks);
    // A heading is its own table's; a method said in the text is that of what follows.
    EXPECT_EQ(audit(head + "Hodges-Lehmann [95% CI]\n" + row + "\n  payload  change\n" + row)
                  .inconsistent,
              2U);
    EXPECT_EQ(audit("10 pairs; bca, 95% intervals\n\n" + row).not_checkable, 2U);
    EXPECT_EQ(audit(row + "\n| method | BCa bootstrap |\n").not_checkable, 2U);
    EXPECT_EQ(audit("Hodges-Lehmann\n\n64B 1.0 1.4 +51.30% [+49%, +54%]").not_checkable, 1U);
}

TEST(Audit, TextAndJson) {
    const Audit found = audit(std::string(kRow) +
                                  "  256B  0.5780  0.9727  +68.39% [+66.14%, "
                                  "+70.48%]\n  \x1b[31m 1.0 2.0 +100.0%\n",
                              AuditOptions{16, {}, {}});
    const std::string text = audit_text(found);
    EXPECT_THAT(text, HasSubstr("line 2, 256B: the change is +68.39%"));
    EXPECT_THAT(text, HasSubstr("3 rows: 2 consistent, 1 inconsistent, 0 not checkable"));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    const auto json = nlohmann::json::parse(audit_json(found));
    EXPECT_EQ(json["schema"], "vsockbench.audit/1");
    EXPECT_EQ(json["rows"][1]["verdict"], "inconsistent");
    EXPECT_EQ(json["rows"][1]["line"], 2);
    EXPECT_NEAR(json["rows"][0]["change"].get<double>(), 0.9291, 1e-12);
    EXPECT_GT(json["rows"][0]["se"].get<double>(), 0);
    EXPECT_TRUE(json["rows"][2]["se"].is_null());
    EXPECT_EQ(json["rows"][0]["reason"], "");
}

std::string mail(const char* name) {
    std::ifstream in(stats::testing::published_folder() / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

TEST(AuditReference, TheMailsThemselves) {
    VSB_NEED_FOLDER(stats::testing::published_folder());
    const Audit v5 = audit(mail("vsock-rx-batching-v5.txt"));
    EXPECT_EQ(v5.rows.size(), 75U);
    EXPECT_EQ(v5.consistent, 75U) << audit_text(v5);
    const Audit v1 = audit(mail("vsock-rx-batching-v1.txt"));
    EXPECT_EQ(v1.rows.size(), 14U);
    EXPECT_EQ(v1.consistent, 14U) << audit_text(v1);
    for (const Audit& found : {v5, v1}) {
        for (const AuditedRow& row : found.rows)
            EXPECT_EQ(row.pairs, 16U) << row.line;
    }
    const Audit v3 = audit(mail("vhost-vsock-used-ring-v3.txt"));
    EXPECT_EQ(v3.consistent, 4U) << audit_text(v3);
    EXPECT_EQ(v3.not_checkable, 6U) << audit_text(v3);
}

}  // namespace
}  // namespace vsb::reports
