#include "reports/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>

#include "reports/escape.h"
#include "reports/plot_style.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLabelWidth = 28;
constexpr std::size_t kMostPoints = 500;  // of one curve

}  // namespace

Plot forest_plot(const Table& table, const std::optional<double>& margin) {
    double low = margin && plottable(*margin) ? -*margin : 0;
    double high = -low;
    std::string data;
    int n = 0;
    for (const TableRow& entry : table.rows) {
        const stats::Comparison& r = entry.row->result;
        if (!plottable(r.change) || !plottable(r.ci.low) || !plottable(r.ci.high)) continue;
        low = std::min(low, r.ci.low);
        high = std::max(high, r.ci.high);
        const int kind = r.verdict == stats::Verdict::faster   ? 1
                         : r.verdict == stats::Verdict::slower ? 2
                                                               : 3;
        fmt::format_to(std::back_inserter(data), "{}\t{}\t{:.6g}\t{:.6g}\t{:.6g}\t{}\n",
                       shorten(plot_label(entry.payload), kLabelWidth), n++, r.change * 100,
                       r.ci.low * 100, r.ci.high * 100, kind);
    }
    if (n == 0) return {};
    const double pad = std::max((high - low) * 0.05, 1e-6);
    std::string script = plot_head(520, 100 + 26 * n);
    script += fmt::format(
        "set xrange [{:.6g}:{:.6g}]\nset yrange [{}:-0.6]\nset xlabel 'change of B against A, %'\n"
        "set format x '%+g'\nset arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb 'black' lw "
        "1\n",
        (low - pad) * 100, (high + pad) * 100, n - 0.4);
    if (margin && plottable(*margin)) {
        script += fmt::format(
            "set object 1 rectangle from {:.6g}, graph 0 to {:.6g}, graph 1 behind fillcolor rgb "
            "'{}' fillstyle solid 0.15 noborder\n",
            -*margin * 100, *margin * 100, kOpen);
    }
    script += "unset key\nplot 'changes.tsv' using 3:2:ytic(1) with dots lc rgb '#8a8a8a'";
    int kind = 1;
    for (const std::string_view color : {kGood, kBad, kOpen}) {
        script += fmt::format(
            ", '' using ($6=={}?$3:1/0):2:4:5 with xerrorbars pt 7 ps 0.6 lw 1.6 lc rgb '{}'",
            kind++, color);
    }
    return {script + "\n", {{"changes.tsv", data}}};
}

Plot pairs_plot(const datasets::PairedSeries& series) {
    std::string order;
    std::string lines;
    double sum = 0;
    int n = 0;
    for (std::size_t i = 0; i < series.pairs.size(); ++i) {
        const datasets::PairedValue& pair = series.pairs[i];
        if (!(pair.a > 0 && pair.b > 0)) continue;
        const double change = pair.b / pair.a - 1;
        if (!plottable(change)) continue;
        const int ab = pair.order == datasets::PairOrder::ab ? 1 : 0;
        sum += std::log(pair.b) - std::log(pair.a);
        ++n;
        fmt::format_to(std::back_inserter(order), "{}\t{:.6g}\t{}\n", i + 1, change * 100, ab);
        fmt::format_to(std::back_inserter(lines), "0\t{:.9g}\t{}\n1\t{:.9g}\t{}\n\n", pair.a, ab,
                       pair.b, ab);
    }
    if (n == 0) return {};
    std::string script = plot_head(520, 250);
    script += fmt::format(
        "set multiplot layout 1,2\n"
        "set xlabel 'pairs as run'\nset ylabel 'change, %' offset 1\nset xrange [0:{}]\nset xtics "
        "{}\n"
        "plot 0 notitle lc rgb 'black' lw 1, {:.6g} notitle lc rgb '{}' lw 1 dt 2, "
        "'order.tsv' using ($3==1?$1:1/0):2 title 'AB' with points pt 7 ps 0.6 lc rgb '{}', "
        "'' using ($3==0?$1:1/0):2 title 'BA' with points pt 9 ps 0.8 lc rgb '{}'\n"
        "unset xlabel\nset ylabel ''\nset xrange [-0.3:1.3]\nset xtics ('A' 0, 'B' 1)\n"
        "plot 'lines.tsv' using ($3==1?$1:1/0):2 notitle with linespoints pt 7 ps 0.4 lw 0.8 lc "
        "rgb "
        "'{}', '' using ($3==0?$1:1/0):2 notitle with linespoints pt 9 ps 0.5 lw 0.8 lc rgb '{}'\n"
        "unset multiplot\n",
        series.pairs.size() + 1, series.pairs.size() / 4 + 1, (std::exp(sum / n) - 1) * 100, kOpen,
        kColorB, kColorA, kColorB, kColorA);
    return {script, {{"order.tsv", order}, {"lines.tsv", lines}}};
}

namespace {

std::string ecdf(std::vector<std::uint64_t> times) {
    std::sort(times.begin(), times.end());
    std::string data;
    const std::size_t n = times.size();
    const std::size_t steps = std::min(n, kMostPoints);
    for (std::size_t i = 1; i <= steps; ++i) {
        const std::size_t rank = i * n / steps;  // 1..n
        fmt::format_to(std::back_inserter(data), "{:.6g}\t{:.6g}\n",
                       static_cast<double>(times[rank - 1]) / 1000,
                       100 * static_cast<double>(rank) / static_cast<double>(n));
    }
    return data;
}

// Shares of the batches by size; sizes beyond the last bar are part of it.
std::string shares(const std::vector<std::uint64_t>& sizes, std::size_t most, double offset) {
    const double total = std::accumulate(
        sizes.begin(), sizes.end(), 0.0,
        [](double sum, std::uint64_t count) { return sum + static_cast<double>(count); });
    std::string data;
    for (std::size_t n = 0; n < sizes.size() && n <= most; ++n) {
        if (sizes[n] == 0) continue;
        fmt::format_to(std::back_inserter(data), "{:.3f}\t{:.6g}\n",
                       static_cast<double>(n) + offset,
                       100 * static_cast<double>(sizes[n]) / total);
    }
    return data;
}

}  // namespace

Plot ecdf_plot(const RttSamples& samples) {
    if (samples.a_ns.empty() || samples.b_ns.empty()) return {};
    std::string script = plot_head(520, 260);
    script += fmt::format(
        "set logscale x\nset xlabel 'round trip, us (log)'\nset ylabel 'requests, %' offset 1\n"
        "set yrange [0:100]\nset key outside top center\n"
        "plot 'a.tsv' using 1:2 title 'A' with steps lw 1.6 lc rgb '{}', "
        "'b.tsv' using 1:2 title 'B' with steps lw 1.6 lc rgb '{}'\n",
        kColorA, kColorB);
    return {script, {{"a.tsv", ecdf(samples.a_ns)}, {"b.tsv", ecdf(samples.b_ns)}}};
}

Plot batch_plot(const BatchSizes& sizes) {
    const std::size_t most = std::max<std::size_t>({sizes.a.size(), sizes.b.size(), 2}) - 1;
    const std::string a = shares(sizes.a, most, -0.2);
    const std::string b = shares(sizes.b, most, 0.2);
    if (a.empty() || b.empty()) return {};
    std::string script = plot_head(520, 260);
    script += fmt::format(
        "set xlabel 'packets in one ownership'\nset ylabel 'ownerships, %' offset 1\n"
        "set yrange [0:*]\nset xrange [0:{}]\nset boxwidth 0.4\nset style fill solid 0.9 noborder\n"
        "plot 'a.tsv' using 1:2 title 'A' with boxes lc rgb '{}', "
        "'b.tsv' using 1:2 title 'B' with boxes lc rgb '{}'\n",
        most + 1, kColorA, kColorB);
    return {script, {{"a.tsv", a}, {"b.tsv", b}}};
}

}  // namespace vsb::reports
