// QEMU guests with Debian's kernel. The kernel is looked for in the cache and fetched there once;
// where QEMU, the kernel or the network is missing the tests skip and say so.
#include <signal.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/guest/boot.h"
#include "harness/guest/children.h"
#include "harness/guest/exact.h"
#include "harness/guest/hypervisor.h"

namespace vsb::guest {
namespace {

namespace fs = std::filesystem;
using harness::Kind;
using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000;

GuestOptions options_of(Topology topology) {
    GuestOptions options;
    options.vmm = Vmm::qemu;
    options.topology = topology;
    options.accel = Accel::tcg;
    options.cache = cache_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
    options.programs = VSB_BIN_DIR;
    options.scratch = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir();
    options.boot_ns = 120 * kSecond;  // other tests run beside this one
    return options;
}

harness::TrialRequest request_of(Kind kind, std::uint64_t payload, std::uint64_t writes) {
    harness::TrialRequest one;
    one.workload.kind = kind;
    one.workload.payload_bytes = payload;
    one.workload.writes = writes;
    one.workload.recv_bytes = 65536;
    one.timeout_ns = 120'000'000'000;
    return one;
}

double value_of(const harness::TrialResult& result, const std::string& metric) {
    for (const auto& one : result.measurements) {
        if (one.metric == metric) return one.value;
    }
    return -1;
}

// A state of Debian's kernel, or why there is none.
class QemuGuest : public testing::Test {
  protected:
    QemuGuest() : folder_(options_of(Topology::loopback).scratch.string()) {}

    void ready(const GuestOptions& options, const std::string& more = {}) {
        try {
            find_qemu(options.qemu);
            KernelRequest request;
            request.kernel = "debian";
            request.cache = options.cache;
            find_kernel(request);
        } catch (const KernelUnavailable& error) {
            GTEST_SKIP() << error.what();
        }
        state_ = make_ready("kernel=debian" + more, options, folder_.path() + "/initrd");
    }

    PrivateFolder folder_;
    ReadyState state_;
};

class QemuVhostUserHost : public QemuGuest {};

TEST_F(QemuVhostUserHost, TwoPayloadsArriveWholeAndNothingIsLeft) {
    const GuestOptions options = options_of(Topology::vhost_user);
    ASSERT_NO_FATAL_FAILURE(ready(options));
    if (IsSkipped()) return;
    BootedGuest booted(state_, options, 1);
    EXPECT_EQ(booted.guest().cpus(), 2u);
    EXPECT_THAT(booted.guest().warnings(), testing::IsEmpty());
    std::uint32_t port = 1024;
    for (const std::uint64_t payload : {64, 4096}) {
        const auto result = booted.run(request_of(Kind::fixed, payload, 500), port);
        ASSERT_EQ(result.failure, "") << payload;
        EXPECT_EQ(value_of(result, "bytes_received"), static_cast<double>(payload) * 500);
        EXPECT_EQ(value_of(result, "bytes_sent"), static_cast<double>(payload) * 500);
        EXPECT_GT(value_of(result, "guest.irq_rx"), 0) << "the RX queue's interrupt is its own";
        port += 2;
    }
    const pid_t machine = booted.guest().machine_group();
    booted.shut_down();
    EXPECT_NE(kill(machine, 0), 0);
    EXPECT_EQ(booted.guest().console().fatal(), "");
}

class QemuFaultsSlow : public QemuGuest, public testing::WithParamInterface<const char*> {};

// What only QEMU has: pvpanic and the status of isa-debug-exit.
TEST_P(QemuFaultsSlow, AreToldApart) {
    GuestOptions options = options_of(Topology::loopback);
    options.stall_ns = 3 * kSecond;
    ASSERT_NO_FATAL_FAILURE(ready(options));
    if (IsSkipped()) return;
    BootedGuest booted(state_, options, 1);
    const std::string how = GetParam();
    booted.guest().misbehave(how);
    try {
        booted.guest().finish(booted.guest().start({"/vsb-receiver", "--help"}),
                              monotonic_ns() + 10 * kSecond, nullptr);
        FAIL() << "it went well";
    } catch (const GuestFailure& failure) {
        const Fault expected = how == "panic"    ? Fault::kernel
                               : how == "silent" ? Fault::silent
                                                 : Fault::ended;
        EXPECT_EQ(failure.fault(), expected) << failure.what();
    }
    const pid_t machine = booted.guest().machine_group();
    booted.shut_down();
    EXPECT_NE(kill(machine, 0), 0);
}

INSTANTIATE_TEST_SUITE_P(Misdeeds, QemuFaultsSlow, testing::Values("panic", "exit", "silent"),
                         [](const auto& each) { return std::string(each.param); });

class QemuLoopbackSlow : public QemuGuest {};

TEST_F(QemuLoopbackSlow, EverySizeInBothKindsArrivesWhole) {
    const GuestOptions options = options_of(Topology::loopback);
    ASSERT_NO_FATAL_FAILURE(ready(options));
    if (IsSkipped()) return;
    BootedGuest booted(state_, options, 1);
    Guest& guest = booted.guest();
    int port = 1024;
    std::vector<std::uint64_t> sizes{3, 1000, 65'535, 65'537, 777'777};
    for (std::uint64_t size = 1; size <= 1 << 20; size *= 2)
        sizes.push_back(size);
    for (const bool seqpacket : {false, true}) {
        for (const std::uint64_t size : sizes) {
            // A message of seqpacket must fit into the peer's buffer.
            const std::uint64_t bytes = size * (size < 4096 ? 257 : 5);
            std::vector<std::string> receive{"/vsb-receiver",
                                             "--listen",
                                             "vsock:any:" + std::to_string(port),
                                             "--recv-size",
                                             "1M",
                                             "--verify",
                                             "--vsk-max-size",
                                             "4M",
                                             "--vsk-size",
                                             "4M"};
            std::vector<std::string> send{"/vsb-sender",
                                          "--connect",
                                          "vsock:1:" + std::to_string(port),
                                          "--bytes",
                                          std::to_string(bytes),
                                          "--buf-size",
                                          std::to_string(size),
                                          "--vsk-max-size",
                                          "4M",
                                          "--vsk-size",
                                          "4M"};
            if (seqpacket) {
                receive.emplace_back("--seqpacket");
                send.emplace_back("--seqpacket");
            }
            const auto receiver = guest.start(receive);
            const auto sender = guest.start(send);
            const GuestRun sent = guest.finish(sender, monotonic_ns() + 60 * kSecond, nullptr);
            const GuestRun got = guest.finish(receiver, monotonic_ns() + 60 * kSecond, nullptr);
            transport::ReadResults out;
            transport::ReadResults in;
            ASSERT_EQ(read_run(sent, "sender", out), "") << size << seqpacket;
            ASSERT_EQ(read_run(got, "receiver", in), "") << size << seqpacket;
            EXPECT_EQ(out.fields.number("bytes"), bytes);
            EXPECT_EQ(in.fields.number("bytes"), bytes);
            ++port;
        }
    }
    const auto pinged = booted.run(request_of(Kind::rtt, 64, 200), 3000);
    ASSERT_EQ(pinged.failure, "");
    EXPECT_EQ(pinged.samples.at(0).values.size(), 200u);
}

TEST_F(QemuLoopbackSlow, VsockPerfsOwnWordsInBothRoles) {
    const GuestOptions options = options_of(Topology::loopback);
    ASSERT_NO_FATAL_FAILURE(ready(options));
    if (IsSkipped()) return;
    BootedGuest booted(state_, options, 1);
    Guest& guest = booted.guest();
    const auto receiver = guest.start({"/vsb-sender", "--vsock-perf-compat", "--port", "1234"});
    const auto sender = guest.start({"/vsb-sender", "--vsock-perf-compat", "--sender", "1",
                                     "--bytes", "1M", "--buf-size", "4K"});
    const std::string sent = guest.finish(sender, monotonic_ns() + 60 * kSecond, nullptr).output;
    const std::string got = guest.finish(receiver, monotonic_ns() + 60 * kSecond, nullptr).output;
    for (const char* line : {"Run as sender\n", "Connect to 1:1234\n", "Send 1048576 bytes\n",
                             "TX buffer 4096 bytes\n", "total bytes sent: 1048576\n",
                             "tx performance: ", "total time in tx loop: ", "time in 'send()': "}) {
        EXPECT_THAT(sent, HasSubstr(line));
    }
    for (const char* line :
         {"Run as receiver\n", "Listen port 1234\n", "RX buffer 131072 bytes\n",
          "vsock buffer 262144 bytes\n", "SO_RCVLOWAT 1 bytes\n", "total bytes received: 1048576\n",
          "rx performance: ", "total time in 'read()': ", "average time in 'read()': ",
          "POLLIN wakeups: "}) {
        EXPECT_THAT(got, HasSubstr(line));
    }
}

class QemuExactSlow : public QemuGuest {};

TEST_F(QemuExactSlow, TwoBootsOfOneSeedAreTheSame) {
    GuestOptions options = options_of(Topology::loopback);
    options.clock = GuestClock::exact;
    ASSERT_NO_FATAL_FAILURE(ready(options));
    if (IsSkipped()) return;
    for (const Kind kind : {Kind::fixed, Kind::rtt}) {
        auto request = request_of(kind, 64, 500);
        const auto first = run_exact_trial(state_, options, request);
        const auto second = run_exact_trial(state_, options, request);
        ASSERT_EQ(first.failure, "");
        ASSERT_EQ(second.failure, "");
        ASSERT_EQ(first.measurements.size(), second.measurements.size());
        for (std::size_t i = 0; i < first.measurements.size(); ++i) {
            EXPECT_EQ(first.measurements[i].value, second.measurements[i].value)
                << first.measurements[i].metric;
        }
        if (kind == Kind::rtt) {
            EXPECT_EQ(first.samples.at(0).values, second.samples.at(0).values);
            continue;
        }
        request.seed = 2;
        const auto other = run_exact_trial(state_, options, request);
        EXPECT_NE(value_of(other, "busy_instructions_per_byte"),
                  value_of(first, "busy_instructions_per_byte"));
    }
}

class QemuNestedSlow : public QemuGuest {};

TEST_F(QemuNestedSlow, BytesArriveWholeThroughARealVhostVsock) {
    const GuestOptions options = options_of(Topology::nested);
    ASSERT_NO_FATAL_FAILURE(ready(options));
    if (IsSkipped()) return;
    BootedGuest booted(state_, options, 1);
    const auto sent = booted.run(request_of(Kind::fixed, 4096, 500), 1024);
    ASSERT_EQ(sent.failure, "");
    EXPECT_EQ(value_of(sent, "bytes_received"), 4096.0 * 500);
    EXPECT_EQ(value_of(sent, "bytes_sent"), 4096.0 * 500);
    EXPECT_GT(value_of(sent, "guest.irq_rx"), 0);
    const auto pinged = booted.run(request_of(Kind::rtt, 64, 100), 1026);
    ASSERT_EQ(pinged.failure, "");
    const pid_t machine = booted.guest().machine_group();
    booted.shut_down();
    EXPECT_NE(kill(machine, 0), 0);
}

}  // namespace
}  // namespace vsb::guest
