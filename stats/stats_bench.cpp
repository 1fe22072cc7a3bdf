// bench_stats: the costly statistics beside a plain, written-out form of the same, both in this
// program. The plain form is first checked to give the same result (the program ends with 1 if it
// does not); each benchmark then reports `plain_over_ours`, how many times longer the plain one
// took.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

#include "stats/bca.h"
#include "stats/change_points.h"
#include "stats/distributions.h"
#include "stats/draws.h"
#include "stats/energy_split.h"
#include "stats/max_t.h"
#include "stats/moments.h"
#include "stats/permutation.h"

namespace vsb::stats {
namespace {

constexpr std::size_t kRows = 72;
constexpr std::size_t kPairs = 16;

std::vector<double> values(std::size_t n, std::uint64_t seed) {
    Draws random(seed);
    std::vector<double> out(n);
    for (double& x : out) {
        for (int i = 0; i < 12; ++i)
            x += static_cast<double>(random.below(1U << 30)) / (1U << 30);
        x = 0.01 * (x - 6) + 0.002;
    }
    return out;
}

bool near(double x, double y) {
    return std::abs(x - y) <= 1e-9 * (1 + std::abs(x) + std::abs(y));
}

// BCa by the book: draw, average, sort, leave one out.
LogInterval plain_bca(const std::vector<double>& d, std::uint64_t seed, std::size_t draws) {
    const std::size_t n = d.size();
    const auto mean = [](const std::vector<double>& x) {
        return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
    };
    Draws random(seed);
    std::vector<double> means;
    std::vector<double> sample(n);
    for (std::size_t b = 0; b < draws; ++b) {
        for (std::size_t i = 0; i < n; i += 2) {
            const std::size_t both = random.below(n * n);  // n is even: two places a draw
            sample[i] = d[both / n];
            sample[i + 1] = d[both % n];
        }
        means.push_back(mean(sample));
    }
    std::sort(means.begin(), means.end());
    double below = 0;
    for (const double m : means)
        below += m < mean(d) ? 1 : 0;
    const double z0 = normal_quantile(below / static_cast<double>(draws));
    double squares = 0;
    double cubes = 0;
    std::vector<double> left_out;
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> rest = d;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        left_out.push_back(mean(rest));
    }
    for (const double x : left_out) {
        squares += std::pow(mean(left_out) - x, 2);
        cubes += std::pow(mean(left_out) - x, 3);
    }
    const double a = cubes / (6 * std::pow(squares, 1.5));
    const auto bound = [&](double probability) {
        const double z = z0 + normal_quantile(probability);
        const double level = normal_cdf(z0 + z / (1 - a * z));
        return means[static_cast<std::size_t>(level * static_cast<double>(draws + 1)) - 1];
    };
    return {bound(0.025), bound(0.975), 0.95};
}

double plain_sign_flip(const std::vector<double>& d) {
    const double total = std::accumulate(d.begin(), d.end(), 0.0);
    std::size_t extreme = 0;
    const std::size_t patterns = std::size_t{1} << d.size();
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
        double sum = 0;
        for (std::size_t i = 0; i < d.size(); ++i)
            sum += (pattern >> i & 1) != 0 ? -d[i] : d[i];
        extreme += std::abs(sum) >= std::abs(total) - 1e-12 ? 1 : 0;
    }
    return static_cast<double>(extreme) / static_cast<double>(patterns);
}

std::vector<TableRow> table() {
    std::vector<TableRow> rows;
    for (std::size_t r = 0; r < kRows; ++r) {
        const auto d = values(kPairs, 100 + r);
        rows.emplace_back(d.begin(), d.end());
    }
    return rows;
}

// Step-down maxT with t itself, recomputed for every row under every arrangement.
std::vector<double> plain_max_t(const std::vector<TableRow>& rows) {
    const auto t_of = [](const std::vector<double>& d) {
        const double n = static_cast<double>(d.size());
        const double mean = std::accumulate(d.begin(), d.end(), 0.0) / n;
        double ss = 0;
        for (const double x : d)
            ss += (x - mean) * (x - mean);
        return std::abs(mean) / std::sqrt(ss / (n - 1) / n);
    };
    std::vector<double> d(kPairs);
    std::vector<double> observed;
    for (const TableRow& row : rows) {
        for (std::size_t i = 0; i < kPairs; ++i)
            d[i] = *row[i];
        observed.push_back(t_of(d));
    }
    std::vector<std::size_t> up(rows.size());
    std::iota(up.begin(), up.end(), std::size_t{0});
    std::sort(up.begin(), up.end(), [&](auto i, auto j) { return observed[i] < observed[j]; });
    std::vector<std::size_t> extreme(rows.size(), 0);
    const std::size_t patterns = std::size_t{1} << kPairs;
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
        double greatest = 0;
        for (const std::size_t r : up) {
            for (std::size_t i = 0; i < kPairs; ++i) {
                d[i] = (pattern >> i & 1) != 0 ? -*rows[r][i] : *rows[r][i];
            }
            greatest = std::max(greatest, t_of(d));
            extreme[r] += greatest >= observed[r] * (1 - 1e-10) ? 1 : 0;
        }
    }
    std::vector<double> p(rows.size());
    double so_far = 0;
    for (std::size_t i = up.size(); i-- > 0;) {
        so_far =
            std::max(so_far, static_cast<double>(extreme[up[i]]) / static_cast<double>(patterns));
        p[up[i]] = so_far;
    }
    return p;
}

// One pass of E-divisive's search over 2,000 nights; a permutation test makes 200 of them.
EnergySplit plain_split(const std::vector<double>& x, std::size_t shortest) {
    const std::size_t n = x.size();
    double left = 0;
    double across = 0;
    double all = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j)
            all += std::abs(x[i] - x[j]);
    }
    EnergySplit best;
    for (std::size_t at = 1; at + shortest <= n; ++at) {
        double to_left = 0;
        double to_right = 0;
        for (std::size_t j = 0; j + 1 < at; ++j)
            to_left += std::abs(x[at - 1] - x[j]);
        for (std::size_t j = at; j < n; ++j)
            to_right += std::abs(x[at - 1] - x[j]);
        left += to_left;
        across += to_right - to_left;
        if (at < shortest) continue;
        const double l = static_cast<double>(at);
        const double r = static_cast<double>(n - at);
        const double energy = 2 * across / (l * r) - 2 * left / (l * (l - 1)) -
                              2 * (all - left - across) / (r * (r - 1));
        const double statistic = l * r / (l + r) * energy;
        if (best.at == 0 || statistic > best.statistic) best = {at, statistic};
    }
    return best;
}

// E-divisive whole: the best split of any stretch, a permutation test of it, and again.
std::vector<std::size_t> plain_e_divisive(const std::vector<double>& x,
                                          const EDivisiveOptions& options) {
    struct Stretch {
        std::size_t begin = 0;
        std::vector<double> values;
        std::vector<std::uint32_t> order;
        EnergySplit best;
    };
    std::vector<Stretch> stretches;
    const auto add = [&](std::size_t begin, std::size_t end) {
        Stretch s;
        s.begin = begin;
        for (std::size_t i = begin; i < end; ++i) {
            s.values.push_back(x[i]);
            s.order.push_back(static_cast<std::uint32_t>(i - begin));
        }
        s.best = plain_split(s.values, options.min_segment);
        stretches.push_back(s);
    };
    add(0, x.size());
    std::vector<std::size_t> found;
    Draws random(options.seed);
    while (true) {
        auto best = stretches.begin();
        for (auto s = stretches.begin(); s != stretches.end(); ++s) {
            if (s->best.statistic > best->best.statistic) best = s;
        }
        if (best->best.at == 0) break;
        std::size_t as_great = 0;
        for (std::size_t i = 0; i < options.permutations; ++i) {
            double greatest = 0;
            for (Stretch& s : stretches) {
                if (s.best.at == 0) continue;
                std::vector<double> shuffled;
                for (std::size_t k = s.order.size() - 1; k > 0; --k)
                    std::swap(s.order[k], s.order[random.below(k + 1)]);
                for (const std::uint32_t k : s.order)
                    shuffled.push_back(s.values[k]);
                greatest = std::max(greatest, plain_split(shuffled, options.min_segment).statistic);
            }
            as_great += greatest >= best->best.statistic * (1 - 1e-10) ? 1 : 0;
        }
        const double p =
            static_cast<double>(1 + as_great) / static_cast<double>(1 + options.permutations);
        if (p > options.alpha) break;
        const std::size_t begin = best->begin;
        const std::size_t end = begin + best->values.size();
        const std::size_t at = begin + best->best.at;
        found.push_back(at);
        stretches.erase(best);
        add(begin, at);
        add(at, end);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<Night> as_nights(const std::vector<double>& x) {
    std::vector<Night> series;
    for (const double value : x)
        series.push_back({value, 0.01});
    return series;
}

std::vector<double> nights(std::size_t n) {
    auto x = values(n, 9);
    for (std::size_t i = 2 * n / 3; i < n; ++i)
        x[i] += 0.004;
    return x;
}

std::vector<std::uint32_t> in_order(std::size_t n) {
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

bool same_results() {
    bool same = true;
    const auto report = [&](const char* what, bool equal) {
        if (!equal) std::fprintf(stderr, "bench_stats: %s: the plain form differs\n", what);
        same = same && equal;
    };
    const auto d = values(kPairs, 1);
    const LogInterval ours = bca(d, 3, 100'000).interval(0.95);
    const LogInterval plain = plain_bca(d, 3, 100'000);
    report("bca", near(ours.low, plain.low) && near(ours.high, plain.high));
    const auto twenty = values(20, 2);
    report("sign flip", near(sign_flip_test(twenty, 1).p, plain_sign_flip(twenty)));
    const auto rows = table();
    const auto p = plain_max_t(rows);
    const MaxT found = max_t(rows, 0.95, 1);
    bool equal = true;
    for (std::size_t r = 0; r < kRows; ++r)
        equal = equal && near(*found.p[r], p[r]);
    report("maxT", equal);
    const auto x = nights(2000);
    const std::vector<double> ones(x.size(), 1.0);
    const EnergySplit split = EnergySplitter(x, ones, 5).best(in_order(x.size()));
    const EnergySplit want = plain_split(x, 5);
    report("E-divisive", split.at == want.at && near(split.statistic, want.statistic));
    std::vector<std::size_t> changes;
    for (const ChangePoint& change : e_divisive(as_nights(nights(300))))
        changes.push_back(change.index);
    report("E-divisive whole", changes == plain_e_divisive(nights(300), {}));
    return same;
}

double seconds(const std::function<void()>& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Runs `ours` under the benchmark and `plain` once before it.
void beside(benchmark::State& state, const std::function<void()>& ours,
            const std::function<void()>& plain) {
    const double plain_seconds = seconds(plain);
    double total = 0;
    for (auto _ : state) {
        const double once = seconds(ours);
        state.SetIterationTime(once);
        total += once;
    }
    state.counters["plain_over_ours"] =
        plain_seconds / (total / static_cast<double>(state.iterations()));
}

void bca_72_rows(benchmark::State& state) {
    beside(
        state,
        [] {
            for (std::size_t r = 0; r < kRows; ++r) {
                benchmark::DoNotOptimize(bca(values(kPairs, r), r, 100'000).interval(0.95));
            }
        },
        [] {
            for (std::size_t r = 0; r < kRows; ++r) {
                benchmark::DoNotOptimize(plain_bca(values(kPairs, r), r, 100'000));
            }
        });
}
BENCHMARK(bca_72_rows)->UseManualTime()->Unit(benchmark::kMillisecond);

void sign_flip_20_pairs(benchmark::State& state) {
    const auto d = values(20, 2);
    beside(
        state, [&] { benchmark::DoNotOptimize(sign_flip_test(d, 1)); },
        [&] { benchmark::DoNotOptimize(plain_sign_flip(d)); });
}
BENCHMARK(sign_flip_20_pairs)->UseManualTime()->Unit(benchmark::kMicrosecond);

// Ours also makes the simultaneous intervals, which the plain form leaves out.
void max_t_72_rows(benchmark::State& state) {
    const auto rows = table();
    beside(
        state, [&] { benchmark::DoNotOptimize(max_t(rows, 0.95, 1)); },
        [&] { benchmark::DoNotOptimize(plain_max_t(rows)); });
}
BENCHMARK(max_t_72_rows)->UseManualTime()->Unit(benchmark::kMillisecond);

void e_divisive_search_2000_nights(benchmark::State& state) {
    const auto x = nights(2000);
    EnergySplitter splitter(x, std::vector<double>(x.size(), 1.0), 5);
    const auto order = in_order(x.size());
    beside(
        state, [&] { benchmark::DoNotOptimize(splitter.best(order)); },
        [&] { benchmark::DoNotOptimize(plain_split(x, 5)); });
}
BENCHMARK(e_divisive_search_2000_nights)->UseManualTime()->Unit(benchmark::kMicrosecond);

// The whole of it: every level change, with 199 permutations for each.
void e_divisive_2000_nights(benchmark::State& state) {
    const auto series = as_nights(nights(2000));
    beside(
        state, [&] { benchmark::DoNotOptimize(e_divisive(series)); },
        [] { benchmark::DoNotOptimize(plain_e_divisive(nights(2000), {})); });
}
BENCHMARK(e_divisive_2000_nights)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vsb::stats

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    if (!vsb::stats::same_results()) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
