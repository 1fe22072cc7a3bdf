#include "reports/sample.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace vsb::reports::sample {
namespace {

struct Figures {
    const char* payload;
    double a;
    double b;
    double change;  // percent, as are low and high
    double low;
    double high;
};

Row make_row(const std::string& workload, const char* metric, const char* unit, bool higher,
             const Figures& figures) {
    Row row;
    row.workload = workload;
    row.metric = metric;
    row.unit = unit;
    row.headline = std::string(metric) != "recv_calls";
    stats::Comparison& r = row.result;
    r.better = higher ? stats::Better::higher : stats::Better::lower;
    r.n_ab = 8;
    r.n_ba = 8;
    r.a = figures.a;
    r.b = figures.b;
    r.change = figures.change / 100;
    r.ratio = 1 + r.change;
    r.ci = {figures.low / 100, figures.high / 100};
    r.se_log = 0.0125;
    r.df = 14;
    r.p = r.ci.low > 0 || r.ci.high < 0 ? 0.00002 : 0.42;
    const bool up = r.ci.low > 0;
    const bool down = r.ci.high < 0;
    r.verdict = !up && !down     ? stats::Verdict::inconclusive
                : (up == higher) ? stats::Verdict::faster
                                 : stats::Verdict::slower;
    r.faster = {up || down ? 16U : 9U, 16, 0, up || down ? 0.00003 : 0.8};
    r.period = stats::Period{0.004, 0.31};
    r.carryover_p = 0.62;
    r.hodges_lehmann = stats::PointInterval{r.change * 0.99, r.ci.low, r.ci.high};
    return row;
}

Row make_recv(const std::string& workload, double a, double b) {
    Row row = make_row(workload, "recv_calls", "1", false,
                       {"", a, b, 100 * (b / a - 1), 100 * (b / a - 1), 100 * (b / a - 1)});
    row.result.p.reset();
    row.result.se_log = 0;
    row.result.warnings = {
        {"zero-variance", "every pair gives the same change: there is no spread to judge it by"}};
    return row;
}

constexpr Figures kFixed[] = {
    {"64B", 0.1290, 0.2489, 92.91, 89.31, 96.58},  {"256B", 0.5780, 0.9727, 68.29, 66.14, 70.48},
    {"512B", 1.1688, 1.8316, 56.70, 53.85, 59.61}, {"1K", 2.3059, 3.3377, 44.75, 43.39, 46.12},
    {"4K", 3.8787, 5.7310, 47.76, 45.20, 50.36},   {"8K", 4.5983, 5.4575, 18.68, 16.42, 20.99},
    {"16K", 5.0806, 5.5615, 9.47, 8.05, 10.90},    {"64K", 5.4842, 5.6423, 2.88, 1.13, 4.67}};

constexpr Figures kMatched[] = {{"64B", 0.1384, 0.2532, 82.99, 74.19, 92.24},
                                {"256B", 0.4042, 0.8983, 122.25, 113.06, 131.85},
                                {"512B", 0.8056, 1.6035, 99.05, 89.34, 109.26},
                                {"1K", 1.6030, 2.7158, 69.42, 63.22, 75.85},
                                {"4K", 3.0194, 4.9586, 64.22, 58.43, 70.23},
                                {"8K", 3.8316, 5.1255, 33.77, 31.00, 36.59},
                                {"16K", 4.5702, 5.3808, 17.74, 14.87, 20.67},
                                {"64K", 5.4736, 5.7118, 4.35, 2.79, 5.94}};

constexpr std::pair<double, double> kMatchedRecv[] = {
    {1048577, 1048577}, {1048577, 1048577}, {1048577, 1048577}, {1048577, 1048577},
    {536799, 525225},   {274864, 263013},   {144958, 131332},   {49039, 32938}};

constexpr Figures kRtt[] = {{"64B", 224.148, 224.151, 0.00, -2.26, 2.32},
                            {"256B", 222.037, 224.499, 1.11, -1.66, 3.95},
                            {"4K", 225.982, 227.026, 0.46, -1.15, 2.10}};

constexpr Figures kCycles[] = {
    {"64B", 65.282, 57.843, -11.40, -13.77, -8.95}, {"256B", 14.710, 13.813, -6.10, -7.89, -4.28},
    {"512B", 7.709, 7.188, -6.75, -8.79, -4.66},    {"1K", 4.075, 3.862, -5.23, -6.80, -3.63},
    {"4K", 2.034, 1.887, -7.21, -8.67, -5.72},      {"8K", 1.664, 1.568, -5.78, -7.83, -3.69},
    {"16K", 1.450, 1.385, -4.48, -6.08, -2.86},     {"64K", 1.338, 1.317, -1.51, -3.21, 0.22}};

datasets::WorkloadRecord workload(const std::string& kind, const std::string& payload) {
    datasets::WorkloadRecord w;
    w.name = kind + "/" + payload;
    w.kind = kind;
    w.payload_bytes = std::stoll(payload) * (payload.back() == 'K' ? 1024 : 1);
    if (kind == "rtt") {
        w.writes = 10000;
    } else {
        w.writes = std::min<long long>(1LL << 20, (2LL << 30) / w.payload_bytes);
        w.recv_bytes = kind == "matched" ? w.payload_bytes : 65536;
    }
    return w;
}

datasets::ExperimentRecord record() {
    datasets::ExperimentRecord r;
    r.id = 7;
    r.uuid = "5f0c3a52-8a3e-4f4e-9d0f-3a1c9f2b7e10";
    r.name = "vsock-rx-v5";
    r.target = "engine";
    r.seed = 42;
    r.pairs = 16;
    r.config = "name = \"vsock-rx-v5\"\nfresh = \"trial\"\n";
    r.tool_version = "0.1.0";
    r.project_commit = "3f2a9c41d6b7";
    r.started = "2026-11-03T09:00:00Z";
    r.finished = "2026-11-03T09:41:10Z";
    r.status = datasets::ExperimentStatus::finished;
    r.states = {{1, "A", "policy=per-packet"}, {2, "B", "policy=deferred-notify,max-pkts=64"}};
    r.environment = {{"kernel", "6.1.0-26-amd64"},
                     {"cpu_model", "Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz"},
                     {"cpus_online", "4"},
                     {"cpus_allowed", "0-3"},
                     {"governor", "performance"},
                     {"turbo", "off"},
                     {"smt", "off"},
                     {"clock_source", "tsc"},
                     {"virtualization", "kvm"},
                     {"topology", "worker and device in one thread, receiver in another"},
                     {"cpu.receiver", "0"},
                     {"cpu.worker", "1"},
                     {"load_start", "0.08"},
                     {"load_end", "0.31"},
                     {"compiler", "g++ 12.2.0"},
                     {"build_type", "Release"},
                     {"machine.wake_cost_ns", "6500"},
                     {"machine.wake_latency_ns", "11200"},
                     {"machine.syscall_cost_ns", "410"},
                     {"machine.cache_line_round_trip_ns", "180"}};
    return r;
}

}  // namespace

Comparison full() {
    Comparison c;
    c.experiment = "vsock-rx-v5";
    c.record = record();
    const auto add = [&](const char* kind, const Figures& figures, const char* metric,
                         const char* unit, bool higher) {
        const std::string name = std::string(kind) + "/" + figures.payload;
        c.rows.push_back(make_row(name, metric, unit, higher, figures));
        c.record->workloads.push_back(workload(kind, figures.payload));
        return name;
    };
    for (const Figures& figures : kFixed) {
        const std::string name = add("fixed", figures, "throughput", "Gbit/s", true);
        c.rows.push_back(make_recv(name, 65536, 32768));
    }
    for (std::size_t i = 0; i < std::size(kMatched); ++i) {
        const std::string name = add("matched", kMatched[i], "throughput", "Gbit/s", true);
        c.rows.push_back(make_recv(name, kMatchedRecv[i].first, kMatchedRecv[i].second));
    }
    for (const Figures& figures : kRtt)
        add("rtt", figures, "rtt_mean", "us", false);
    for (const Figures& figures : kCycles)
        add("cycles", figures, "cycles_per_byte", "cycles/B", false);
    return c;
}

Comparison typical() {
    Comparison c = full();
    const auto keep = [](const std::string& name) {
        return name == "fixed/64B" || name == "fixed/64K" || name == "matched/256B" ||
               name == "matched/64K" || name == "rtt/64B" || name == "rtt/4K" ||
               name == "cycles/64B" || name == "cycles/64K";
    };
    std::erase_if(c.rows, [&](const Row& row) { return !keep(row.workload); });
    std::erase_if(c.record->workloads, [&](const auto& w) { return !keep(w.name); });
    c.rows[0].result.warnings = {
        {"outliers", "1 of 16 pairs lie far from the others (pair 3); they are kept"}};
    c.rows[2].result.warnings = {
        {"outliers", "2 of 16 pairs lie far from the others (pair 5, 9); they are kept"},
        {"lost-runs",
         "1 runs of A and 0 of B were lost or invalid; their pairs are left "
         "out"}};
    c.rows[2].result.n_ba = 7;
    c.warnings = {{"busy-machine", "other processes used 12% of the CPUs while this ran"}};
    MeansOnly means{"fixed/64B", "drops", "1", 0, 2.5};
    c.means = {means};
    return c;
}

Comparison imported() {
    Comparison c;
    c.experiment = "pairs.csv";
    c.rows.push_back(
        make_row("stream to guest", "value", "", true, {"", 10.5, 11.25, 7.14, 5.01, 9.32}));
    c.rows.push_back(
        make_row("stream to host", "value", "", true, {"", 9.75, 9.1, -6.67, -9.2, -4.0}));
    c.rows[1].result.method = stats::Method::paired_t;
    c.rows[1].result.period.reset();
    c.rows[1].result.carryover_p.reset();
    c.rows[1].result.hodges_lehmann.reset();
    c.rows[1].result.warnings = {{"few-pairs",
                                  "fewer than two pairs of an order: paired t instead of the "
                                  "crossover"}};
    return c;
}

Comparison hostile() {
    Comparison c = typical();
    const std::string red = "\x1b[31mred\x1b[0m\r\nx\tq\x07";
    const std::string markup = "</script><script>alert(1)</script><img src=x onerror=y>&amp;'\"";
    const std::string formula = "=cmd()|'/c calc'!A1,\"q\"";
    const std::string bidi = "abc\u202edcba\u2066\u200b\u00e9\u4e2d";
    const std::string bytes = "bad\xff\xc0\xaf\xed\xa0\x80z";
    const std::string lengthy(10000, 'n');
    const std::string mark = "[a](http://evil.example/) **b** `c` | d\n# e\n@team ![i](j) $x$ <u>";
    c.experiment = red + markup + mark;
    c.rows[0].workload = red + "/64B";
    c.rows[0].metric = markup;
    c.rows[0].unit = formula;
    c.rows[1].workload = lengthy;
    c.rows[1].headline = true;
    c.rows[1].unit = bytes;
    c.rows[2].workload = formula;
    c.rows[2].metric = "+1+1";
    c.rows[3].workload = bidi;
    c.rows[3].metric = "@SUM(A1)";
    c.rows[3].headline = true;
    c.rows[4].workload = mark;
    c.rows[4].metric = "-2+3";
    c.rows[5].workload = "";
    c.rows[5].metric = "";
    c.rows[5].headline = true;
    c.rows[2].result.warnings = {{red, markup + mark + bidi}, {"long", lengthy + " " + lengthy}};
    c.warnings = {{markup, red + formula}, {bytes, bytes + lengthy}};
    c.record->name = markup;
    c.record->target = red;
    c.record->project_commit = bytes;
    c.record->states = {{1, "A", markup + red + mark}, {2, "B", lengthy + "," + bidi + bytes}};
    c.record->environment["cpu_model"] = markup + red;
    c.record->environment["topology"] = lengthy;
    c.record->environment["cpu." + markup] = red;
    c.record->environment["warning." + red] = formula;
    c.record->uuid = red;
    c.means = {{bidi, markup, formula, 0, 1e300}, {red, red, "1", 0, 0}};
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const double extremes[] = {1e-300, 1e300, -0.0, kInf, std::nan(""), 12345678.9};
    std::size_t i = 0;
    for (Row& row : c.rows) {
        row.result.a = extremes[i % 6];
        row.result.b = extremes[(i + 1) % 6];
        row.result.change = extremes[(i + 2) % 6];
        row.result.ci = {-extremes[(i + 3) % 6], extremes[(i + 4) % 6]};
        row.result.p = extremes[(i + 5) % 6];
        ++i;
    }
    return c;
}

}  // namespace vsb::reports::sample
