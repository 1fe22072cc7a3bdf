// vsb-pingpong as the program it is, against itself and against servers that misbehave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "pingpong/pingpong_options.h"
#include "transport/errors.h"
#include "transport/results.h"
#include "transport/sockets.h"
#include "transport/testing/child.h"

namespace vsb::pingpong {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using transport::read_results;
using transport::ReadResults;
using transport::testing::Child;
using transport::testing::program;
using transport::testing::TemporaryFolder;

using Args = std::vector<std::string>;

Args command(Args args, const Args& more = {}) {
    args.insert(args.begin(), program(VSB_BIN_DIR, "vsb-pingpong"));
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

TEST(PingpongHost, EverySizeComesBack) {
    const TemporaryFolder folder;
    const std::string samples = folder.path() + "/rtt";
    for (const char* family : {"unix", "tcp", "seqpacket", "busy"}) {
        for (const char* size : {"1", "7", "64", "4K", "65537", "1M"}) {
            const bool seqpacket = std::string(family) == "seqpacket";
            if (seqpacket && std::string(size) == "1M" && ::geteuid() != 0) continue;
            SCOPED_TRACE(std::string(family) + " " + size);
            Args both;
            if (seqpacket) both = {"--seqpacket"};
            if (std::string(family) == "busy") both = {"--busy-poll"};
            const bool tcp = std::string(family) == "tcp";
            std::string endpoint = tcp ? "tcp:127.0.0.1:0" : "unix:" + folder.path() + "/s";
            Child server(command({"--listen", endpoint, "--ready-fd", "3"}, both));
            const std::string ready = server.ready();
            ASSERT_THAT(ready, StartsWith("READY "));
            if (tcp) endpoint = "tcp:127.0.0.1:" + ready.substr(6);
            Child client(command({"--connect", endpoint, "--requests", "20", "--warmup", "3",
                                  "--size", size, "--samples", samples},
                                 both));
            ASSERT_EQ(client.wait(), 0) << client.err();
            ASSERT_EQ(server.wait(), 0) << server.err();
            const ReadResults got = read_results(client.out());
            EXPECT_EQ(got.fields.number("requests"), 20u);
            EXPECT_EQ(got.fields.number("warmup_requests"), 3u);
            EXPECT_EQ(read_results(server.out()).fields.number("requests"), 20u);
            // Every figure can be had again from the raw samples.
            std::ifstream file(samples);
            std::vector<std::uint64_t> raw;
            for (std::uint64_t one = 0; file >> one;)
                raw.push_back(one);
            ASSERT_EQ(raw.size(), 20u);
            EXPECT_EQ(*std::min_element(raw.begin(), raw.end()), got.fields.number("rtt_min_ns"));
            EXPECT_EQ(*std::max_element(raw.begin(), raw.end()), got.fields.number("rtt_max_ns"));
            EXPECT_NE(got.fields.find("rtt_p99_ns_absent"), nullptr);
            EXPECT_GT(got.fields.real("clock_cost_ns"), 0.0);
        }
    }
}

// A server of ours that keeps the handshake and then does as `act` says with the data connection.
std::string client_against(const std::function<void(int fd)>& act, const Args& more = {}) {
    const TemporaryFolder folder;
    const std::string endpoint = "unix:" + folder.path() + "/s";
    auto& calls = transport::system_calls();
    transport::Listener listener(calls, transport::parse_endpoint(endpoint), {});
    Child client(command({"--connect", endpoint, "--requests", "5", "--warmup", "0", "--size", "10",
                          "--timeout", "0.5"},
                         more));
    const std::uint64_t later = calls.now_ns() + 5000000000;
    {
        const auto control = listener.accept(later, "control");
        char text[256];
        EXPECT_GT(calls.recv(control.get(), text, sizeof text, 0), 0);
        EXPECT_EQ(calls.send(control.get(), "READY port=0\n", 13, 0), 13);
        const auto data = listener.accept(later, "data");
        EXPECT_EQ(calls.send(control.get(), "GO\n", 3, 0), 3);
        act(data.get());
        // The control channel stays, so that it is the data that tells.
        EXPECT_EQ(client.wait(), 3);
    }
    EXPECT_THAT(client.out(), Not(HasSubstr("rtt")));
    return read_results(client.out()).reason;
}

void echo(int fd, int times) {
    char text[10];
    for (int i = 0; i < times; ++i) {
        ASSERT_EQ(::recv(fd, text, 10, MSG_WAITALL), 10);
        ASSERT_EQ(::send(fd, text, 10, 0), 10);
    }
}

TEST(PingpongHost, AShortReplyFails) {
    const std::string reason = client_against([](int fd) {
        echo(fd, 2);
        char text[10];
        ASSERT_EQ(::recv(fd, text, 10, MSG_WAITALL), 10);
        ASSERT_EQ(::send(fd, text, 4, 0), 4);
        ::shutdown(fd, SHUT_RDWR);
    });
    EXPECT_THAT(reason, StartsWith("request 2: the server at unix:"));
    EXPECT_THAT(reason, HasSubstr("ended the stream after 4 of 10 bytes"));
}

TEST(PingpongHost, AChangedReplyFails) {
    const std::string reason = client_against([](int fd) {
        echo(fd, 1);
        char text[10];
        ASSERT_EQ(::recv(fd, text, 10, MSG_WAITALL), 10);
        text[7] ^= 1;
        ASSERT_EQ(::send(fd, text, 10, 0), 10);
    });
    EXPECT_THAT(reason, StartsWith("the reply to request 1 from the server at unix:"));
    EXPECT_THAT(reason, HasSubstr("differs from byte 7 on"));
}

TEST(PingpongHost, ARepeatedReplyFails) {
    const std::string reason = client_against([](int fd) {
        char first[10];
        char second[10];
        ASSERT_EQ(::recv(fd, first, 10, MSG_WAITALL), 10);
        ASSERT_EQ(::send(fd, first, 10, 0), 10);
        ASSERT_EQ(::recv(fd, second, 10, MSG_WAITALL), 10);
        ASSERT_EQ(::send(fd, first, 10, 0), 10);
    });
    EXPECT_THAT(reason, StartsWith("the reply to request 1"));
}

TEST(PingpongHost, ALostRequestFailsAtTheDeadline) {
    const std::string reason = client_against([](int fd) { echo(fd, 3); });
    EXPECT_THAT(reason, HasSubstr("no byte moved for"));
    EXPECT_THAT(reason, HasSubstr("request 3: 0 of 10 bytes came from the server"));
}

TEST(PingpongHost, ALostRequestFailsWhenSpinningToo) {
    const std::string reason = client_against([](int fd) { echo(fd, 3); }, {"--busy-poll"});
    EXPECT_THAT(reason, HasSubstr("request 3: 0 of 10 bytes came from the server"));
}

TEST(PingpongHost, AClientThatLeavesFailsTheServerByName) {
    const TemporaryFolder folder;
    const std::string endpoint = "unix:" + folder.path() + "/s";
    Child server(command({"--listen", endpoint, "--ready-fd", "3"}));
    server.ready();
    auto& calls = transport::system_calls();
    const std::uint64_t later = calls.now_ns() + 5000000000;
    const auto to = transport::parse_endpoint(endpoint);
    {
        const auto control = transport::connect_to(calls, to, {}, later);
        const std::string plan =
            "PLAN protocol=pingpong/1 requests=9 warmup=0 size=10 kind=stream\n";
        EXPECT_EQ(calls.send(control.get(), plan.data(), plan.size(), 0),
                  static_cast<ssize_t>(plan.size()));
        char text[20];
        EXPECT_EQ(calls.recv(control.get(), text, 13, MSG_WAITALL), 13);
        const auto data = transport::connect_to(calls, to, {}, later);
        EXPECT_EQ(calls.recv(control.get(), text, 3, MSG_WAITALL), 3);
        EXPECT_EQ(calls.send(data.get(), "0123456789", 10, 0), 10);
        EXPECT_EQ(calls.recv(data.get(), text, 10, MSG_WAITALL), 10);
    }
    EXPECT_EQ(server.wait(), 3);
    EXPECT_THAT(read_results(server.out()).reason, HasSubstr("the client on unix:"));
}

std::string error_of(const Args& args) {
    try {
        parse_pingpong_options(args);
    } catch (const transport::UsageError& error) {
        return error.what();
    }
    return "";
}

TEST(PingpongOptions, WrongValuesAreRefusedByName) {
    EXPECT_THAT(error_of({}), StartsWith("--connect: either"));
    EXPECT_THAT(error_of({"--connect", "3", "--listen", "3"}), StartsWith("--connect: either"));
    for (const char* bad : {"1.5G", "64KB", "abc", "-1", "16E", "0", ""}) {
        EXPECT_THAT(error_of({"--connect", "3", "--size", bad}), StartsWith("--size: ")) << bad;
    }
    EXPECT_THAT(error_of({"--connect", "3", "--requests", "0"}), StartsWith("--requests: "));
    EXPECT_THAT(error_of({"--connect", "3", "--cpu", "0,1"}), StartsWith("--cpu: "));
    EXPECT_THAT(error_of({"--listen", "3", "--requests", "5"}),
                StartsWith("--requests: is the client"));
    EXPECT_THAT(error_of({"--connect", "3", "--ready-fd", "3"}), StartsWith("--ready-fd: "));
    EXPECT_THAT(error_of({"--connect", "any"}), StartsWith("--connect: "));
    const PingpongOptions options = parse_pingpong_options(Args{"--connect", "3"});
    EXPECT_EQ(options.requests, 10000u);
    EXPECT_EQ(options.warmup, 1000u);
}

TEST(PingpongOptions, HelpEndsWithTwoExamples) {
    const std::string help = pingpong_help();
    const std::string examples = help.substr(help.find("Examples:\n"));
    EXPECT_EQ(std::count(examples.begin(), examples.end(), '\n'), 3);
}

}  // namespace
}  // namespace vsb::pingpong
