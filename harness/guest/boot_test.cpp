// Real guests. They need a kernel: VSB_GUEST_KERNEL=FILE, or Debian's user-mode-linux, which is
// fetched into the cache once. Where it cannot be had these tests skip and say so.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "harness/guest/allowed.h"
#include "harness/guest/boot.h"
#include "harness/guest/children.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;

GuestOptions options_here() {
    GuestOptions options;
    options.cache = cache_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
    options.programs = VSB_BIN_DIR;
    options.scratch = best_scratch({"/dev/shm", testing::TempDir()});
    options.stall_ns = 3 * kSecond;
    return options;
}

std::string spec_here() {
    const char* given = std::getenv("VSB_GUEST_KERNEL");
    return std::string("kernel=") + (given != nullptr && *given != '\0' ? given : "debian-uml");
}

// One guest with its device, booted.
class Booted {
  public:
    Booted()
        : options_(options_here()),
          folder_(options_.scratch.string()),
          booted_(make_ready(spec_here(), options_, folder_.path() + "/initrd"), options_, 1) {}

    Guest& guest() { return booted_.guest(); }
    Device& device() { return *booted_.device(); }
    GuestCpus cpus() const { return booted_.cpus(); }
    const std::string& folder() const { return booted_.folder(); }

    harness::TrialRequest request(harness::Kind kind, std::uint64_t payload, std::uint64_t writes) {
        harness::TrialRequest one;
        one.workload.kind = kind;
        one.workload.payload_bytes = payload;
        one.workload.writes = writes;
        one.workload.recv_bytes = 65536;
        one.timeout_ns = 120'000'000'000;
        return one;
    }

  private:
    GuestOptions options_;
    PrivateFolder folder_;
    BootedGuest booted_;
};

// A booted guest, or why this machine has none.
struct Attempt {
    std::unique_ptr<Booted> booted;
    std::string why;
};

Attempt try_to_boot() {
    Attempt attempt;
    try {
        attempt.booted = std::make_unique<Booted>();
    } catch (const KernelUnavailable& error) {
        attempt.why = error.what();
    } catch (const GuestFailure& failure) {
        // A machine that ends before any kernel or PID 1 said a word was not allowed to start.
        const bool said = failure.console.find("vsb-init") != std::string::npos;
        if (failure.fault() != Fault::ended || said) throw;
        attempt.why = failure.what();
    }
    return attempt;
}

double value_of(const harness::TrialResult& result, const std::string& metric) {
    for (const auto& one : result.measurements) {
        if (one.metric == metric) return one.value;
    }
    return -1;
}

// Processes whose command line names a folder: those of a guest that is to be gone.
int processes_naming(const std::string& text) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream file(entry.path() / "cmdline", std::ios::binary);
        const std::string line((std::istreambuf_iterator<char>(file)), {});
        if (line.find(text) != std::string::npos) ++count;
    }
    return count;
}

TEST(GuestBootHost, MeasuresThroughputAndRoundTripsAndLeavesNothing) {
    const Attempt attempt = try_to_boot();
    if (!attempt.booted) GTEST_SKIP() << attempt.why;
    Booted& booted = *attempt.booted;
    EXPECT_FALSE(booted.guest().release().empty());
    EXPECT_GT(processes_naming(booted.folder()), 0);
    const GuestCpus cpus = booted.cpus();

    std::uint32_t port = 1024;
    for (const std::uint64_t payload : {64U, 4096U}) {
        const auto sent =
            run_guest_trial(booted.guest(), booted.device(),
                            booted.request(harness::Kind::fixed, payload, 500), cpus, port);
        port += 2;
        ASSERT_EQ(sent.failure, "");
        EXPECT_EQ(sent.measurements[0].metric, "throughput");
        const double planned = 500.0 * static_cast<double>(payload);
        EXPECT_EQ(value_of(sent, "bytes_received"), planned);
        EXPECT_EQ(value_of(sent, "bytes_sent"), planned);
        EXPECT_GE(value_of(sent, "recv_calls"), planned / 65536 + 1);
        EXPECT_GE(value_of(sent, "device.rx_packets"), 500);
        EXPECT_GT(value_of(sent, "guest.irq_rx"), 0);
        EXPECT_GT(value_of(sent, "guest.context_switches"), 0);
    }

    const auto pinged = run_guest_trial(booted.guest(), booted.device(),
                                        booted.request(harness::Kind::rtt, 64, 100), cpus, port);
    ASSERT_EQ(pinged.failure, "");
    ASSERT_EQ(pinged.samples.size(), 1u);
    EXPECT_EQ(pinged.samples[0].values.size(), 100u);

    // The other direction, in vsock_perf's words.
    const std::uint64_t soon = monotonic_ns() + 60 * kSecond;
    const auto watch = [] { return std::string(); };
    const std::uint64_t sender =
        booted.guest().start({"/vsb-sender", "--vsock-perf-compat", "--sender", "2", "--port",
                              "5001", "--bytes", "1M", "--buf-size", "4K"});
    ReceiveJob taking(booted.device().host(), monotonic_ns, {5001, 1 << 20, 1, false});
    booted.device().run(taking, soon, watch);
    EXPECT_EQ(taking.failure(), "");
    EXPECT_THAT(
        booted.guest().finish(sender, soon, nullptr).output,
        testing::AllOf(HasSubstr("Run as sender\n"), HasSubstr("Connect to 2:5001\n"),
                       HasSubstr("total bytes sent: 1048576\n"), HasSubstr("tx performance: ")));

    booted.guest().shut_down();
    EXPECT_EQ(processes_naming(booted.folder()), 0);
    EXPECT_EQ(booted.guest().console().fatal(), "");
}

struct Misdeed {
    const char* how;
    Fault fault;
};

class GuestFaultsSlow : public testing::TestWithParam<Misdeed> {};

TEST_P(GuestFaultsSlow, AreToldApart) {
    const Attempt attempt = try_to_boot();
    if (!attempt.booted) GTEST_SKIP() << attempt.why;
    Booted& booted = *attempt.booted;
    booted.guest().misbehave(GetParam().how);
    try {
        booted.guest().finish(booted.guest().start({"/vsb-receiver", "--help"}),
                              monotonic_ns() + 8 * kSecond, nullptr);
        FAIL() << "it went well";
    } catch (const GuestFailure& failure) {
        EXPECT_EQ(failure.fault(), GetParam().fault) << failure.what();
    }
    booted.guest().shut_down();
    EXPECT_EQ(processes_naming(booted.folder()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Misdeeds, GuestFaultsSlow,
    testing::Values(Misdeed{"panic", Fault::kernel}, Misdeed{"oops", Fault::kernel},
                    Misdeed{"exit", Fault::ended}, Misdeed{"silent", Fault::silent},
                    Misdeed{"chatter", Fault::chatter}, Misdeed{"garbage", Fault::garbage}),
    [](const auto& each) { return std::string(each.param.how); });

// 100 MB of it: the trial fails long before the end, and what is kept is short.
TEST(GuestFloodSlow, OnTheConsoleFailsAndIsNotKept) {
    const Attempt attempt = try_to_boot();
    if (!attempt.booted) GTEST_SKIP() << attempt.why;
    Booted& booted = *attempt.booted;
    booted.guest().misbehave("flood");
    try {
        booted.guest().finish(booted.guest().start({"/vsb-receiver", "--help"}),
                              monotonic_ns() + 300 * kSecond, nullptr);
        FAIL() << "it went well";
    } catch (const GuestFailure& failure) {
        EXPECT_EQ(failure.fault(), Fault::flood) << failure.what();
        EXPECT_THAT(failure.what(), HasSubstr("more than 16 MiB"));
    }
    booted.guest().shut_down();
    EXPECT_LT(booted.guest().console().bytes(), 100'000'000u);
    EXPECT_LE(booted.guest().console().text().size(), Console::kMaxKept * 2);
    EXPECT_EQ(processes_naming(booted.folder()), 0);
}

TEST(GuestShortSlow, TooFewBytesFailTheTrial) {
    const Attempt attempt = try_to_boot();
    if (!attempt.booted) GTEST_SKIP() << attempt.why;
    Booted& booted = *attempt.booted;
    ReceiverCall call;
    call.port = 1024;
    call.bytes = 1001 * 64;  // one write more than will be sent
    call.recv_bytes = 65536;
    call.cpus = booted.cpus();
    const std::uint64_t id = booted.guest().start(receiver_argv(call));
    SendJob job(booted.device().host(), monotonic_ns, {1024, 1000, 64, 1});
    booted.device().run(job, monotonic_ns() + 60 * kSecond, [] { return std::string(); });
    EXPECT_EQ(job.failure(), "");
    harness::TrialResult result;
    throughput_figures(booted.guest().finish(id, monotonic_ns() + 60 * kSecond, nullptr),
                       call.bytes, false, result);
    EXPECT_THAT(result.failure, HasSubstr("64000 of 64064"));
    EXPECT_TRUE(result.measurements.empty());
}

TEST(GuestDiesSlow, AMachineThatIsKilledIsNoticedInATrial) {
    const Attempt attempt = try_to_boot();
    if (!attempt.booted) GTEST_SKIP() << attempt.why;
    Booted& booted = *attempt.booted;
    harness::TrialRequest request =
        booted.request(harness::Kind::fixed, 64, std::uint64_t{1} << 40);
    int looks = 0;
    request.stop = [&] {
        if (++looks == 10) booted.guest().misbehave("panic");
        return false;
    };
    try {
        const auto result =
            run_guest_trial(booted.guest(), booted.device(), request, booted.cpus(), 1024);
        EXPECT_THAT(result.failure, HasSubstr("kernel reported"));
        EXPECT_TRUE(result.measurements.empty());
    } catch (const GuestFailure& failure) {
        EXPECT_EQ(failure.fault(), Fault::kernel);
    }
}

}  // namespace
}  // namespace vsb::guest
