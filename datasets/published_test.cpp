#include "datasets/published.h"

#include <gtest/gtest.h>

#include <set>

namespace vsb::datasets {
namespace {

std::size_t rows_of(const PublishedSeries& series) {
    std::size_t rows = 0;
    for (const PublishedTable& table : series.tables)
        rows += table.rows.size();
    return rows;
}

TEST(Published, FiveSeriesAreEmbedded) {
    std::map<std::string, std::pair<std::size_t, std::size_t>> seen;
    for (const PublishedFile& file : published_files()) {
        const PublishedSeries series = parse_published(file.name, file.csv);
        EXPECT_EQ(series.name, file.name);
        EXPECT_EQ(series.posted.size(), 10U) << series.posted;
        seen[series.name] = {series.tables.size(), rows_of(series)};
    }
    const decltype(seen) wanted{{"vhost-net-rx-batching-v2", {2, 8}},
                                {"vhost-vsock-used-ring-v3", {3, 11}},
                                {"vsock-dgram-lockless-sendmsg-v4", {3, 7}},
                                {"vsock-rx-batching-v1", {4, 14}},
                                {"vsock-rx-batching-v5", {10, 75}}};
    EXPECT_EQ(seen, wanted);
}

TEST(Published, FiguresAreKeptAsPrinted) {
    const PublishedFile* file = find_published("vsock-rx-batching-v5");
    ASSERT_NE(file, nullptr);
    const PublishedSeries series = parse_published(file->name, file->csv);
    EXPECT_EQ(series.posted, "2026-11-03");
    const PublishedTable& rtt = series.tables.at(2);
    EXPECT_EQ(rtt.pairs, 16U);
    EXPECT_EQ(rtt.rows.at(0).layout.size(), 2U);
    const std::map<std::string, std::string> first{{"label", "64B"},  {"a", "224.148"},
                                                   {"b", "224.151"},  {"change", "+0.00%"},
                                                   {"low", "-2.26%"}, {"high", "+2.32%"}};
    EXPECT_EQ(rtt.rows.at(0).figures, first);
    EXPECT_EQ(series.tables.at(4).section, std::vector<std::string>{"P1-P3 contribution:"});
    EXPECT_TRUE(series.tables.at(4).caption.empty());
    EXPECT_EQ(find_published("vsock-rx-batching"), nullptr);
}

void expect_refused(const std::string& csv, const std::string& why) {
    try {
        parse_published("x", csv);
        ADD_FAILURE() << "read: " << csv;
    } catch (const std::invalid_argument& error) {
        EXPECT_EQ(std::string(error.what()), "x:" + why);
    }
}

TEST(Published, WhatDoesNotKeepToTheSchemaIsRefused) {
    const std::string head = "record,table,text,label,a\nseries,,s,,\nposted,,2026-01-01,,\n";
    expect_refused("", "0: no series or no date so far");
    expect_refused("record,text\n", "1: the header does not start with record,table,text,label");
    expect_refused(head + "row,1,,x\n", "4: has 4 fields, the header has 5");
    expect_refused(head + "rows,1,,x,1\n", "4: 'rows' is no kind of record");
    expect_refused(head + "row,1,,x,1\n", "4: a row before its table's layout");
    expect_refused(head + "row,2,,x,1\n", "4: '2' is neither this table's number nor the next one");
    expect_refused(head + "layout,1,{b},,\nrow,1,,x,1\n", "5: the row has no figure 'b'");
    expect_refused(head + "layout,1,{a},,\nrow,1,,x,\n", "5: the row has no figure 'a'");
    expect_refused(head + "row,1,{a,x,1\n", "4: a layout's brace is not closed");
    expect_refused(head + "pairs,1,many,,\n", "4: 'many' is no number of pairs");
    expect_refused(head + "caption,1,c,,\n", "4: a table without a row");
}

}  // namespace
}  // namespace vsb::datasets
