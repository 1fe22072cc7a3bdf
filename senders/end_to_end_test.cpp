// vsb-sender and vsb-receiver as the programs they are, over unix and tcp sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <regex>

#include "transport/results.h"
#include "transport/size.h"
#include "transport/sockets.h"
#include "transport/testing/child.h"

namespace vsb::senders {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using transport::read_results;
using transport::ReadResults;
using transport::testing::Child;
using transport::testing::program;
using transport::testing::TemporaryFolder;

using Args = std::vector<std::string>;

Args command(const char* name, Args args) {
    args.insert(args.begin(), program(VSB_BIN_DIR, name));
    return args;
}

Args operator+(Args a, const Args& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

struct Trial {
    int sender_code = -1, receiver_code = -1;
    ReadResults sender, receiver;
};

// Over a unix socket in a new folder, or over tcp on a port of the kernel's choice.
Trial run(const Args& sender_args, const Args& receiver_args, bool tcp = false) {
    const TemporaryFolder folder;
    const std::string listen = tcp ? "tcp:127.0.0.1:0" : "unix:" + folder.path() + "/s";
    Child receiver(
        command("vsb-receiver", Args{"--listen", listen, "--ready-fd", "3"} + receiver_args));
    const std::string ready = receiver.ready();
    EXPECT_THAT(ready, StartsWith("READY "));
    const std::string connect = tcp ? "tcp:127.0.0.1:" + ready.substr(6) : listen;
    Child sender(command("vsb-sender", Args{"--connect", connect} + sender_args));
    Trial trial;
    trial.sender_code = sender.wait();
    trial.receiver_code = receiver.wait();
    trial.sender = read_results(sender.out());
    trial.receiver = read_results(receiver.out());
    return trial;
}

void expect_all_arrived(const Trial& trial, std::uint64_t bytes) {
    ASSERT_EQ(trial.sender_code, 0) << trial.sender.reason;
    ASSERT_EQ(trial.receiver_code, 0) << trial.receiver.reason;
    EXPECT_EQ(trial.sender.fields.number("bytes"), bytes);
    EXPECT_EQ(trial.receiver.fields.number("bytes"), bytes);
    EXPECT_EQ(trial.sender.fields.text("checked"), "yes");
    EXPECT_EQ(trial.receiver.fields.text("checked"), "yes");
    EXPECT_GT(trial.receiver.fields.real("first_to_last_gbit_s"), 0.0);
    EXPECT_GE(trial.receiver.fields.number("whole_ns"),
              trial.receiver.fields.number("first_to_last_ns"));
}

// What the histogram says was read, counted by calls.
std::uint64_t calls_in(const std::string& histogram) {
    std::uint64_t calls = 0;
    const std::regex entry("([0-9]+):([0-9]+)");
    for (std::sregex_iterator it(histogram.begin(), histogram.end(), entry), end; it != end; ++it) {
        calls += std::stoull((*it)[2]);
    }
    return calls;
}

const std::vector<std::uint64_t> kSizes = {1,    2,     63,    64,    256,    1000,    1024,   4096,
                                           8191, 16384, 65536, 65537, 262144, 1048575, 1048576};

TEST(ToolsHost, EverySizeArrivesWholeOverStreams) {
    for (const bool tcp : {false, true}) {
        for (const std::uint64_t size : kSizes) {
            SCOPED_TRACE(size);
            const std::uint64_t bytes = std::max<std::uint64_t>(size * 3 + 1, 20000);
            const Trial trial = run({"--buf-size", std::to_string(size), "--bytes",
                                     std::to_string(bytes), "--warmup", "1000"},
                                    {"--verify"}, tcp);
            expect_all_arrived(trial, bytes);
            EXPECT_EQ(trial.receiver.fields.text("verified"), "yes");
            EXPECT_EQ(trial.receiver.fields.number("write_bytes"), size);
            EXPECT_EQ(calls_in(trial.receiver.fields.text("recv_sizes")) + 1,
                      trial.receiver.fields.number("recvs"));
        }
    }
}

TEST(ToolsHost, EverySizeArrivesWholeAsMessages) {
    for (const std::uint64_t size : kSizes) {
        if (size > 65536 && ::geteuid() != 0) continue;  // wants a larger send buffer than allowed
        SCOPED_TRACE(size);
        const std::uint64_t messages = size < 100 ? 200 : 5;
        const Trial trial = run({"--seqpacket", "--buf-size", std::to_string(size), "--bytes",
                                 std::to_string(size * messages)},
                                {"--seqpacket", "--recv-size", "match", "--verify"});
        expect_all_arrived(trial, size * messages);
        EXPECT_EQ(trial.sender.fields.number("sends"), messages);
        EXPECT_EQ(trial.receiver.fields.number("recvs"), messages + 1)
            << "one a message, and the end";
        EXPECT_EQ(trial.receiver.fields.number("recv_bytes"), size);
    }
}

TEST(ToolsHost, EveryModeReceivesTheSame) {
    for (const char* mode : {"recv", "poll", "epoll", "waitall", "uring"}) {
        SCOPED_TRACE(mode);
        const Trial trial = run({"--bytes", "3000001", "--buf-size", "5000", "--warmup", "70000"},
                                {"--mode", mode, "--verify", "--recv-size", "10000"});
        if (trial.receiver_code == 4) {
            EXPECT_STREQ(mode, "uring");
            EXPECT_THAT(trial.receiver.reason, HasSubstr("io_uring is not to be had here"));
            continue;
        }
        expect_all_arrived(trial, 3000001);
        if (std::string(mode) == "waitall") {
            EXPECT_EQ(trial.receiver.fields.text("recv_sizes"), "1:1,8192:300");
        }
    }
}

TEST(ToolsHost, ThreadsShareTheBytes) {
    const Trial trial =
        run({"--threads", "3", "--bytes", "1000001", "--buf-size", "777", "--warmup", "500"},
            {"--verify"});
    expect_all_arrived(trial, 1000001);
    EXPECT_EQ(trial.receiver.fields.number("threads"), 3u);
    EXPECT_EQ(trial.receiver.fields.number("recvs_of_0"), 3u);
    EXPECT_EQ(trial.receiver.fields.number("warmup_bytes"), 1500u);
}

TEST(ToolsHost, ATimedRunEndsAndAgrees) {
    const Trial trial = run({"--duration", "0.3", "--interval", "0.1"}, {"--interval", "0.1"});
    ASSERT_EQ(trial.sender_code, 0) << trial.sender.reason;
    expect_all_arrived(trial, trial.sender.fields.number("bytes"));
    EXPECT_GE(trial.sender.fields.number("first_to_last_ns"), 300000000u);
    EXPECT_NE(trial.sender.fields.find("interval_gbit_s"), nullptr);
}

TEST(ToolsHost, CompletionsOfZerocopyAreCounted) {
    const Trial tcp = run({"--zerocopy", "--bytes", "3M", "--warmup", "64K"}, {"--verify"}, true);
    if (tcp.sender_code == 4) GTEST_SKIP() << tcp.sender.reason;
    expect_all_arrived(tcp, 3 << 20);
    EXPECT_EQ(tcp.sender.fields.number("zerocopy_completions"), tcp.sender.fields.number("sends"));
    const Trial local = run({"--zerocopy"}, {"--timeout", "5"});
    EXPECT_EQ(local.sender_code, 4);
    EXPECT_EQ(local.receiver_code, 3);
}

TEST(ToolsHost, AbsentCountersHaveAReason) {
    const Trial trial = run({"--perf", "--bytes", "1M"}, {"--perf", "--perf-cpu", "0"});
    ASSERT_EQ(trial.receiver_code, 0);
    for (const auto* side : {&trial.sender, &trial.receiver}) {
        EXPECT_NE(side->fields.find("cycles") == nullptr,
                  side->fields.find("cycles_absent") == nullptr);
    }
    EXPECT_NE(trial.receiver.fields.find("cpu_instructions") == nullptr,
              trial.receiver.fields.find("cpu_instructions_absent") == nullptr);
}

TEST(ToolsHost, SidesThatDoNotFitSayWhy) {
    const Trial nonce = run({"--nonce", "a"}, {"--nonce", "b"});
    EXPECT_EQ(nonce.sender_code, 3);
    EXPECT_THAT(nonce.receiver.reason, HasSubstr("another nonce"));
    EXPECT_THAT(nonce.sender.reason, HasSubstr("another nonce")) << "told over the channel";
    const Trial fits =
        run({"--seqpacket", "--buf-size", "100000"}, {"--seqpacket", "--recv-size", "4K"});
    EXPECT_THAT(fits.receiver.reason, HasSubstr("messages of 100000 bytes do not fit"));
    EXPECT_EQ(fits.sender_code, 3);
    EXPECT_EQ(run({"--nonce", "a"}, {"--nonce", "a"}).receiver_code, 0);
}

TEST(ToolsHost, ACpuThatIsNotThereIsAnError) {
    Child sender(command("vsb-sender", {"--connect", "unix:/nowhere", "--cpu", "9999"}));
    EXPECT_EQ(sender.wait(), 2);
    EXPECT_THAT(sender.err(), HasSubstr("--cpu: CPU 9999 is not there"));
    EXPECT_EQ(sender.out(), "");
}

TEST(ToolsHost, WithoutControlTheCountIsCheckedAgainstTheOption) {
    const Args plain = {"--control", "none", "--bytes", "50000", "--warmup", "1000"};
    const Trial good =
        run(plain, {"--control", "none", "--expect", "50000", "--warmup", "1000", "--verify"});
    ASSERT_EQ(good.receiver_code, 0) << good.receiver.reason;
    EXPECT_EQ(good.receiver.fields.text("checked"), "yes");
    EXPECT_EQ(good.sender.fields.text("checked"), "no");
    const Trial bad = run(plain, {"--control", "none", "--expect", "50001", "--warmup", "1000"});
    EXPECT_EQ(bad.receiver_code, 3);
    EXPECT_THAT(bad.receiver.reason, HasSubstr("received 50000 of 50001 bytes"));
    const Trial unknown = run(plain, {"--control", "none"});
    EXPECT_EQ(unknown.receiver.fields.number("bytes"), 51000u);
    EXPECT_EQ(unknown.receiver.fields.text("checked"), "no");
}

// Starts an endless transfer and, once bytes move, does something to one side.
struct Broken {
    int code = -1;
    ReadResults results;
    std::string out;
};

Broken survivor(bool hurt_receiver, int signal, const Args& timeout) {
    const TemporaryFolder folder;
    const std::string endpoint = "unix:" + folder.path() + "/s";
    Child receiver(
        command("vsb-receiver",
                Args{"--listen", endpoint, "--ready-fd", "3", "--interval", "0.05"} + timeout));
    receiver.ready();
    Child sender(
        command("vsb-sender",
                Args{"--connect", endpoint, "--duration", "20", "--interval", "0.05"} + timeout));
    Child& hurt = hurt_receiver ? receiver : sender;
    Child& left = hurt_receiver ? sender : receiver;
    hurt.wait_for_err("Gbit/s");  // an interval: bytes have moved
    ::kill(hurt.pid(), signal);
    Broken broken;
    broken.code = left.wait();
    broken.out = left.out();
    broken.results = read_results(left.out());
    return broken;
}

TEST(ToolsHost, AKilledOrStoppedPeerFailsTheTrialByName) {
    for (const bool receiver : {true, false}) {
        for (const int signal : {SIGKILL, SIGSTOP}) {
            SCOPED_TRACE(std::to_string(signal) + (receiver ? " receiver" : " sender"));
            const Broken broken = survivor(receiver, signal, {"--timeout", "0.5"});
            EXPECT_EQ(broken.code, 3);
            EXPECT_THAT(broken.results.reason,
                        HasSubstr(receiver ? "the receiver at unix:" : "the sender on unix:"));
            EXPECT_THAT(broken.results.reason,
                        signal == SIGKILL
                            ? ::testing::Matcher<const std::string&>(AnyOf(
                                  HasSubstr("left"), HasSubstr("Broken pipe"), HasSubstr("reset")))
                            : HasSubstr("no byte moved for"));
            EXPECT_THAT(broken.out, Not(HasSubstr("gbit_s")));
        }
    }
}

TEST(ToolsHost, ASenderThatSaysMoreThanItSentIsCaught) {
    const TemporaryFolder folder;
    const std::string endpoint = "unix:" + folder.path() + "/s";
    Child receiver(command("vsb-receiver", {"--listen", endpoint, "--ready-fd", "3"}));
    receiver.ready();
    auto& calls = transport::system_calls();
    const std::uint64_t later = calls.now_ns() + 5000000000;
    const auto to = transport::parse_endpoint(endpoint);
    const auto control = transport::connect_to(calls, to, {}, later);
    const auto say = [&](const std::string& line) {
        EXPECT_EQ(calls.send(control.get(), line.data(), line.size(), 0),
                  static_cast<ssize_t>(line.size()));
    };
    const auto hear = [&] {
        char text[256];
        const ssize_t n = calls.recv(control.get(), text, sizeof text, 0);
        return std::string(text, n < 0 ? 0 : static_cast<std::size_t>(n));
    };
    say("PLAN protocol=stream/1 bytes=10 warmup=0 write=10 seed=1 threads=1 kind=stream\n");
    EXPECT_EQ(hear(), "READY port=0\n");
    {
        const auto data = transport::connect_to(calls, to, {}, later);
        EXPECT_EQ(hear(), "GO\n");
        EXPECT_EQ(calls.send(data.get(), "123456789", 9, 0), 9);
    }
    say("DONE bytes=10 sends=1\n");
    EXPECT_THAT(hear(), StartsWith("FAIL reason=received 9 of 10 bytes"));
    EXPECT_EQ(receiver.wait(), 3);
    EXPECT_EQ(read_results(receiver.out()).reason,
              "received 9 of 10 bytes from the sender on " + endpoint);
}

std::string masked(const std::string& text) {
    return std::regex_replace(text, std::regex("[0-9]+(\\.[0-9]{6})?"), "#");
}

struct CompatRun {
    int sender_code, receiver_code;
    std::string sender, receiver, sender_err;
};

CompatRun compat(const Args& sender_args, const Args& receiver_args) {
    const TemporaryFolder folder;
    const std::string link = folder.path() + "/vsock_perf";
    EXPECT_EQ(::symlink(program(VSB_BIN_DIR, "vsb-sender").c_str(), link.c_str()), 0);
    const std::string endpoint = "unix:" + folder.path() + "/s";
    Child receiver(Args{link, "--listen", endpoint} + receiver_args);
    receiver.wait_for_out("SO_RCVLOWAT");
    Child sender(
        Args{program(VSB_BIN_DIR, "vsb-sender"), "--vsock-perf-compat", "--sender", endpoint} +
        sender_args);
    CompatRun run{sender.wait(), receiver.wait(), {}, {}, sender.err()};
    run.sender = std::regex_replace(sender.out(), std::regex(endpoint), "ENDPOINT");
    run.receiver = receiver.out();
    return run;
}

TEST(VsockPerfHost, PrintsItsLinesAndNothingElse) {
    const CompatRun run = compat({"--bytes", "1M", "--buf", "4K"}, {"--vsk-size=1M", "--rcv", "7"});
    EXPECT_EQ(run.sender_code, 0);
    EXPECT_EQ(run.receiver_code, 0);
    EXPECT_EQ(masked(run.sender),
              "Run as sender\nConnect to ENDPOINT\nSend # bytes\nTX buffer # bytes\n"
              "total bytes sent: #\ntx performance: # Gbits/s\ntotal time in tx loop: # sec\n"
              "time in 'send()': # sec\n");
    EXPECT_EQ(masked(run.receiver),
              "Run as receiver\nListen port #\nRX buffer # bytes\nvsock buffer # bytes\n"
              "SO_RCVLOWAT # bytes\ntotal bytes received: #\nrx performance: # Gbits/s\n"
              "total time in 'read()': # sec\naverage time in 'read()': # ns\n"
              "POLLIN wakeups: #\n");
    EXPECT_THAT(run.sender, HasSubstr("Send 1048576 bytes\nTX buffer 4096 bytes\n"
                                      "total bytes sent: 1048576\n"));
    EXPECT_THAT(run.receiver, StartsWith("Run as receiver\nListen port 1234\nRX buffer 131072 "
                                         "bytes\nvsock buffer 1048576 bytes\nSO_RCVLOWAT 7 bytes\n"
                                         "total bytes received: 1048576\n"));
    EXPECT_THAT(run.sender_err, HasSubstr("tx, first to last byte: "));
}

TEST(VsockPerfHost, DrainsToTheEndWhateverTheSize) {
    for (const char* size : {"256", "64K"}) {
        const CompatRun run = compat({"--bytes", "4M", "--buf-size", size}, {});
        EXPECT_THAT(run.receiver, HasSubstr("total bytes received: 4194304\n")) << size;
        EXPECT_EQ(run.receiver_code, 0);
    }
}

TEST(VsockPerfHost, HelpIsOnStdoutWithExit1) {
    for (const Args& args :
         {Args{"--help"}, Args{"--sender", "3", "--help"}, Args{"--hel", "--bytes", "x"}}) {
        Child child(command("vsb-sender", Args{"--vsock-perf-compat"} + args));
        EXPECT_EQ(child.wait(), 1);
        EXPECT_THAT(child.out(), HasSubstr("--rcvlowat"));
        EXPECT_EQ(child.err(), "");
    }
}

TEST(VsockPerfHost, WrongSizesExit2AndPrintNothing) {
    for (const char* bad : {"1.5G", "64KB", "abc", "-1", "16E", "0"}) {
        Child child(command("vsb-sender", {"--vsock-perf-compat", "--bytes", bad}));
        EXPECT_EQ(child.wait(), 2) << bad;
        EXPECT_EQ(child.out(), "");
        EXPECT_THAT(child.err(), StartsWith("vsb-sender: --bytes: ")) << bad;
    }
}

TEST(VsockPerfHost, AReceiverThatLeavesEarlyFailsTheSender) {
    const TemporaryFolder folder;
    const std::string endpoint = "unix:" + folder.path() + "/s";
    auto& calls = transport::system_calls();
    const std::uint64_t later = calls.now_ns() + 5000000000;
    transport::Listener listener(calls, transport::parse_endpoint(endpoint), {});
    Child sender(
        command("vsb-sender", {"--vsock-perf-compat", "--sender", endpoint, "--bytes", "1000"}));
    {
        // As vsock_perf does: gone with data still queued.
        const auto connection = listener.accept(later, "a test");
        char text[500];
        EXPECT_EQ(calls.recv(connection.get(), text, sizeof text, MSG_WAITALL), 500);
        pollfd end{connection.get(), POLLRDHUP, 0};
        EXPECT_EQ(calls.poll(&end, 1, 5000), 1);
    }
    EXPECT_EQ(sender.wait(), 3);
    EXPECT_THAT(sender.err(), HasSubstr("left before it had read everything"));
    EXPECT_THAT(sender.out(), Not(HasSubstr("performance")));
}

TEST(VsockPerfHost, AnEmptyStreamIsNoFigure) {
    const TemporaryFolder folder;
    const std::string endpoint = "unix:" + folder.path() + "/s";
    Child receiver(command("vsb-sender", {"--vsock-perf-compat", "--listen", endpoint}));
    receiver.wait_for_out("SO_RCVLOWAT");
    auto& calls = transport::system_calls();
    transport::connect_to(calls, transport::parse_endpoint(endpoint), {},
                          calls.now_ns() + 5000000000);
    EXPECT_EQ(receiver.wait(), 3);
    EXPECT_THAT(receiver.err(), HasSubstr("sent not one byte"));
    EXPECT_THAT(receiver.out(), Not(HasSubstr("performance")));
}

}  // namespace
}  // namespace vsb::senders
