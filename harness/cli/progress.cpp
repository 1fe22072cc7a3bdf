#include "harness/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/cli/output.h"
#include "harness/pilot.h"
#include "reports/escape.h"
#include "stats/comparison.h"

namespace vsb::cli {
namespace {

bool both_orders(const std::vector<stats::Pair>& pairs) {
    const auto ab = std::ranges::count(pairs, stats::Order::ab, &stats::Pair::order);
    const auto ba = static_cast<std::ptrdiff_t>(pairs.size()) - ab;
    return ab >= 2 && ba >= 2;
}

}  // namespace

std::string running_change(const std::vector<stats::Pair>& pairs) {
    const bool positive =
        std::ranges::all_of(pairs, [](const stats::Pair& p) { return p.a > 0 && p.b > 0; });
    if (!positive || !both_orders(pairs)) return {};
    const stats::Comparison c = stats::compare(pairs, {});
    return fmt::format("{:+.2f}% [{:+.2f}%, {:+.2f}%]", 100 * c.change, 100 * c.ci.low,
                       100 * c.ci.high);
}

std::string duration_text(std::int64_t ns) {
    const std::int64_t seconds = std::max<std::int64_t>(0, ns / 1'000'000'000);
    const std::int64_t minutes = seconds / 60;
    if (minutes < 60) return fmt::format("{}:{:02}", minutes, seconds % 60);
    return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, seconds % 60);
}

Progress::Progress(ProgressStyle style, harness::Clock clock,
                   std::map<std::string, std::vector<stats::Pair>> known)
    : style_(style), clock_(std::move(clock)), pairs_(std::move(known)) {}

void Progress::begin(const harness::RunBegin& event) {
    start_ns_ = clock_.monotonic_ns();
    done_before_ = event.pairs_done;
    if (style_.quiet) return;
    const auto& record = event.record;
    line(fmt::format("experiment {} ({}): A {}, B {}", record.id, record.name,
                     record.states[0].spec.empty() ? "as built" : record.states[0].spec,
                     record.states[1].spec.empty() ? "as built" : record.states[1].spec),
         false);
    std::string plan = fmt::format("{} workloads, {} pairs each, seed {}", event.workloads.size(),
                                   record.pairs, record.seed);
    const auto rule = record.environment.find(std::string(harness::kPlanRule));
    if (rule != record.environment.end()) {
        plan = fmt::format("{} workloads, seed {}: {}", event.workloads.size(), record.seed,
                           rule->second);
    }
    if (event.pairs_done > 0) {
        plan += fmt::format("; {} of {} pairs are there already", event.pairs_done,
                            event.pairs_planned);
    }
    line(plan, false);
}

void Progress::planned(const harness::PairsPlanned& event) {
    if (style_.quiet) return;
    line(fmt::format("planned: {} {} pairs ({})", event.workload.name, event.pairs, event.why),
         false);
}

void Progress::trial(const datasets::TrialRecord& /*trial*/, const harness::Workload&) {
    ++trials_;
}

void Progress::pair(const harness::PairEnd& event) {
    const bool whole = event.lost.empty() && event.a && event.b;
    auto& pairs = pairs_[event.workload.name];
    if (whole) {
        pairs.push_back(
            {*event.a, *event.b,
             event.planned.order == datasets::PairOrder::ab ? stats::Order::ab : stats::Order::ba});
    }
    if (style_.quiet) return;
    const std::int64_t elapsed_ns = clock_.monotonic_ns() - start_ns_;
    const std::size_t done = event.pairs_over - done_before_;
    const std::size_t left = event.pairs_planned - event.pairs_over;
    // In trials: where a round is measured state by state, first halves run ahead of the pairs.
    const std::size_t ahead = trials_ - std::min(trials_, 2 * done);
    const std::size_t trials_left = 2 * left - std::min(2 * left, ahead);
    const std::int64_t left_ns = elapsed_ns /
                                 static_cast<std::int64_t>(std::max<std::size_t>(trials_, 1)) *
                                 static_cast<std::int64_t>(trials_left);
    std::string text =
        fmt::format("pair {}/{} {} ", event.pairs_over, event.pairs_planned, event.workload.name);
    if (whole) {
        text += fmt::format("A {:.4g} B {:.4g} {}", *event.a, *event.b, event.unit);
        if (const std::string change = running_change(pairs); !change.empty()) {
            text += ", so far " + change;
        }
    } else {
        text += "lost: " + event.lost;
    }
    text += fmt::format(", {} gone, {} to go", duration_text(elapsed_ns), duration_text(left_ns));
    if (style_.terminal && whole) {
        // Written over by the next one: cleared to the end since that one may be shorter, and cut
        // to the width since a line that wraps is not written over.
        const std::size_t width = std::max<std::size_t>(stderr_columns(), 20) - 1;
        write_stderr("\r" + reports::printable(reports::cut(text, width)) + "\x1b[K");
        line_open_ = true;
    } else {
        line(text, !whole);
    }
}

void Progress::warning(const std::string& code, const std::string& text) {
    line("vsockbench: warning: " + text + " [" + code + "]", true);
}

void Progress::finish() {
    if (line_open_) write_stderr("\n");
    line_open_ = false;
}

void Progress::line(const std::string& text, bool bad) {
    finish();
    if (bad && style_.color) {
        write_stderr("\x1b[33m" + reports::printable(text) + "\x1b[0m\n");
    } else {
        say(text);
    }
}

}  // namespace vsb::cli
