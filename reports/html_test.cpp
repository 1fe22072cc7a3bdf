#include "reports/html.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "reports/gnuplot.h"
#include "reports/golden.h"
#include "reports/page_svg.h"
#include "reports/plots.h"
#include "reports/sample.h"

namespace vsb::reports {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++n;
    return n;
}

datasets::PairedSeries pairs_of(const std::string& workload, const std::string& metric) {
    datasets::PairedSeries s{workload, metric, "Gbit/s", true, {}, 0, 0, 0};
    for (int i = 0; i < 6; ++i) {
        s.pairs.push_back({i + 1, i % 2 == 0 ? datasets::PairOrder::ab : datasets::PairOrder::ba,
                           1 + 0.01 * i, 2 - 0.01 * i});
    }
    return s;
}

HtmlExtras extras() {
    HtmlExtras e;
    e.series = {pairs_of("fixed/64B", "throughput"), pairs_of("fixed/64B", "recv_calls")};
    e.rtt = {{"rtt/64B", {1000, 2000, 3000}, {900, 1000, 5000}}};
    e.batch_sizes = {{"fixed/64B", {0, 10}, {0, 1, 0, 5}}};
    return e;
}

// Stands in for gnuplot: what it was asked to draw, in an <svg>.
Drawing fake(const Plot& plot) {
    return {"<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><text>" +
                std::to_string(plot.script.size()) + "</text></svg>\n",
            ""};
}

TEST(HtmlGolden, Typical) {
    HtmlExtras e = extras();
    const std::string diff = golden_diff("typical.html", html(sample::typical(), e));
    EXPECT_TRUE(diff.empty()) << diff;
}

TEST(Html, StandsAlone) {
    HtmlExtras e = extras();
    e.plotter = fake;
    for (const Comparison& c :
         {sample::full(), sample::hostile(), sample::imported(), Comparison{}}) {
        std::string page = html(c, e);
        EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
        for (const char* bad : {"<script", "javascript:", "<img", "<link", "<iframe", "src=\"",
                                "url(", "@import", "<a ", "xmlns"}) {
            EXPECT_EQ(page.find(bad), std::string::npos) << bad;
        }
        EXPECT_EQ(page.find('\x1b'), std::string::npos);
        EXPECT_EQ(page.find("\u202e"), std::string::npos);
    }
}

TEST(Html, NotesComeBeforeFigures) {
    Comparison c = sample::typical();
    c.interim = true;
    const std::string page = html(c, {});
    EXPECT_LT(page.find("the run is under way"), page.find("<table"));
    EXPECT_LT(page.find("the interval holds 0"), page.find("<table"));
    EXPECT_EQ(page.find("0.420"), std::string::npos);
    EXPECT_EQ(page.find("<th class=\"verdict\">"), std::string::npos);
}

TEST(Html, DrawsEveryKindOfPlot) {
    HtmlExtras e = extras();
    e.plotter = fake;
    const std::string page = html(sample::typical(), e);
    // Four tables, one headline series, one ECDF, one histogram.
    EXPECT_EQ(count(page, "<svg"), 7U);
    EXPECT_EQ(count(page, "</figure>"), 7U);
    EXPECT_EQ(page.find("Some plots are missing"), std::string::npos);
    EXPECT_EQ(count(page, "<table"), 5U);  // and the counts
}

TEST(Html, SaysWhyPlotsAreMissing) {
    HtmlExtras e = extras();
    EXPECT_NE(html(sample::typical(), e).find("Some plots are missing: no plot program"),
              std::string::npos);
    e.plotter = gnuplot("no-such-program-here");
    const std::string page = html(sample::typical(), e);
    EXPECT_NE(page.find("Some plots are missing: start no-such-program-here"), std::string::npos);
    EXPECT_EQ(page.find("<svg"), std::string::npos);
    EXPECT_EQ(count(page, "<table"), 5U);
}

TEST(SvgForPage, LosesPrologAndNamespacesAndSharedIds) {
    const std::string out = svg_for_page(
        "<?xml version=\"1.0\"?><svg viewBox=\"0 0 1 1\" xmlns=\"http://www.w3.org/2000/svg\" "
        "xmlns:xlink=\"http://www.w3.org/1999/xlink\"><title>Gnuplot</title><desc>x</desc>"
        "<circle id='gpPt' fill=\"black\"/><use xlink:href='#gpPt' color='white'/><use "
        "xlink:href='#gpPt' stroke='rgb(0,0,0)'/></svg>\n",
        "f1-", "a <b>");
    EXPECT_EQ(out,
              "<svg role=\"img\" viewBox=\"0 0 1 1\"  ><title>a &lt;b&gt;</title>"
              "<circle id='f1-gpPt' fill=\"currentColor\"/>"
              "<use href='#f1-gpPt' stroke='currentColor'/></svg>");
    EXPECT_EQ(svg_for_page("no drawing", "p", "t"), "");
}

// A script holds words of ours and numbers; what users named is in the data.
TEST(Plots, LabelsStayOutOfScripts) {
    Comparison c = sample::hostile();
    for (Row& row : c.rows) {
        row.result.change = 0.1;
        row.result.ci = {0.05, 0.15};
        row.workload = "`touch x`\"'\\@" + row.workload;
    }
    for (const Table& table : tables(c)) {
        const Plot plot = forest_plot(table, 0.02);
        EXPECT_EQ(plot.script.find("touch"), std::string::npos);
        EXPECT_EQ(plot.script.find("nnn"), std::string::npos);
        for (const PlotData& data : plot.data) {
            EXPECT_EQ(data.text.find_first_of("`\"'\\@#"), std::string::npos) << data.text;
        }
    }
}

TEST(Plots, LeaveOutWhatNoScaleHolds) {
    Comparison c = sample::typical();
    for (Row& row : c.rows)
        row.result.ci.high = 1e300;
    for (const Table& table : tables(c))
        EXPECT_TRUE(forest_plot(table, {}).script.empty());
    datasets::PairedSeries s = pairs_of("x", "v");
    for (auto& pair : s.pairs)
        pair.a = 0;
    EXPECT_TRUE(pairs_plot(s).script.empty());
    EXPECT_TRUE(pairs_plot({}).script.empty());
    EXPECT_TRUE(ecdf_plot({"x", {}, {1}}).script.empty());
    EXPECT_TRUE(batch_plot({"x", {0, 0}, {0, 1}}).script.empty());
}

TEST(Plots, EcdfEndsAtTheLongest) {
    RttSamples samples{"x", {}, {5000}};
    for (std::uint64_t i = 1; i <= 10000; ++i)
        samples.a_ns.push_back(i * 1000);
    const Plot plot = ecdf_plot(samples);
    EXPECT_EQ(std::count(plot.data[0].text.begin(), plot.data[0].text.end(), '\n'), 500);
    EXPECT_NE(plot.data[0].text.find("\n10000\t100\n"), std::string::npos);
    EXPECT_NE(plot.data[0].text.find("\n5000\t50\n"), std::string::npos);
    EXPECT_EQ(plot.data[1].text, "5\t100\n");
}

// With the real program; skipped where it is not installed.
TEST(GnuplotHost, DrawsAndRunsNothing) {
    const Plotter plotter = gnuplot();
    if (plotter({"set terminal svg\nplot x\n", {}}).error.rfind("start ", 0) == 0) {
        GTEST_SKIP() << "no gnuplot here";
    }
    Comparison c = sample::typical();
    for (Row& row : c.rows)
        row.workload = "`touch ran`<b>{/Symbol q}_^#" + row.workload;
    for (const Table& table : tables(c)) {
        const Drawing drawing = plotter(forest_plot(table, 0.02));
        EXPECT_EQ(drawing.error, "");
        EXPECT_EQ(count(drawing.svg, "<svg"), 1U);
        EXPECT_EQ(drawing.svg.find("<b>"), std::string::npos);
    }
    const HtmlExtras e = extras();
    EXPECT_EQ(plotter(pairs_plot(e.series[0])).error, "");
    EXPECT_EQ(plotter(ecdf_plot(e.rtt[0])).error, "");
    EXPECT_EQ(plotter(batch_plot(e.batch_sizes[0])).error, "");
}

TEST(GnuplotHost, SaysWhatWentWrong) {
    const Plotter plotter = gnuplot();
    const Drawing drawing = plotter({"nonsense\n", {}});
    EXPECT_EQ(drawing.svg, "");
    EXPECT_FALSE(drawing.error.empty());
    // Programs that answer with something else.
    EXPECT_EQ(gnuplot("true")({"", {}}).error, "true drew nothing that a page may hold");
    EXPECT_EQ(gnuplot("false")({"", {}}).error, "false failed: ");
}

}  // namespace
}  // namespace vsb::reports
