#include "harness/guest/exact.h"

#include <iterator>
#include <utility>

#include "harness/guest/orders.h"

namespace vsb::guest {
namespace {

constexpr std::uint32_t kPort = 1024;
// What other programs do to this machine changes no result here, only how long it takes.
constexpr std::uint64_t kPatience = 5;
// Of a tick at 100 Hz, the longest that kernels are made with.
constexpr std::uint64_t kTickNs = 10'000'000;

// Where the guest's timer stands when its programs begin, of this seed (splitmix64's last steps).
std::uint64_t phase_ns(std::uint64_t seed) {
    std::uint64_t x = seed + 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (x ^ x >> 31) % kTickNs;
}

}  // namespace

ExactRuns run_exact(const ReadyState& ready, const GuestOptions& options, const ProgramPlan& plan,
                    std::uint64_t seed, std::uint64_t deadline_ns, std::vector<CpioNode> more) {
    const PrivateFolder folder(options.scratch.string());
    GuestSetup setup = setup_of(ready, options, seed, folder.path());
    setup.boot_ns *= kPatience;
    for (const ProgramStep& step : plan)
        setup.ordered_programs += step.size();
    // The kernel unpacks one archive over the other: the state's, and behind it what is this run's.
    more.push_back({"orders", NodeKind::file, 0644,
                    spin_order(phase_ns(seed)) + orders_text(setup.sysctls, plan), 0, 0});
    setup.initrd = folder.path() + "/initrd";
    write_whole(setup.initrd,
                read_unpacked(ready.initrd, std::size_t{1} << 30) + newc_archive(more));

    Guest guest(setup, options.stop);
    std::vector<GuestRun> all;
    try {
        all = guest.finish_orders(deadline_ns, options.stop);
    } catch (GuestFailure& failure) {
        guest.shut_down();
        failure.console = guest.console().text();
        throw;
    }
    ExactRuns result;
    auto next = std::make_move_iterator(all.begin());
    for (const ProgramStep& step : plan) {
        const auto end = next + static_cast<std::ptrdiff_t>(step.size());
        result.runs.emplace_back(next, end);
        next = end;
    }
    result.warnings = guest.warnings();
    return result;
}

harness::TrialResult run_exact_trial(const ReadyState& ready, const GuestOptions& options,
                                     const harness::TrialRequest& request) {
    ProgramEnds ends;
    ends.sender_cpu = 0;
    ends.port = kPort;
    ends.exact_clock = true;
    const ExactRuns exact =
        run_exact(ready, options, plan_programs(request, ends), request.seed,
                  monotonic_ns() + kPatience * static_cast<std::uint64_t>(request.timeout_ns));
    harness::TrialResult result = program_figures(request, ends, exact.runs);
    for (const std::string& text : exact.warnings)
        result.warnings.push_back({"guest", text});
    return result;
}

}  // namespace vsb::guest
