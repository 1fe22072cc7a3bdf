#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "senders/compat_options.h"
#include "senders/sender_options.h"
#include "transport/errors.h"

namespace vsb::senders {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using Args = std::vector<std::string>;

template <class Parse>
std::string error_of(Parse&& parse, const Args& args) {
    try {
        parse(args);
    } catch (const transport::UsageError& error) {
        EXPECT_EQ(transport::exit_code_of(error), 2);
        return error.what();
    }
    return "";
}

std::string compat_error(const Args& args) {
    return error_of(parse_compat_options, args);
}

std::string sender_error(Args args) {
    args.insert(args.begin(), {"--connect", "unix:/s"});
    return error_of(parse_sender_options, args);
}

TEST(CompatOptions, DefaultsAreThoseOfVsockPerf) {
    const CompatOptions receiver = parse_compat_options(Args{});
    EXPECT_FALSE(receiver.sender);
    EXPECT_EQ(transport::format_endpoint(receiver.endpoint), "vsock:any:1234");
    EXPECT_EQ(receiver.bytes, 65536u);
    EXPECT_EQ(receiver.buf_bytes, 131072u);
    EXPECT_EQ(receiver.vsk_bytes, 262144u);
    EXPECT_EQ(receiver.rcvlowat, 1u);
    EXPECT_FALSE(receiver.zerocopy);
    const CompatOptions sender = parse_compat_options(Args{"--sender", "3"});
    EXPECT_TRUE(sender.sender);
    EXPECT_EQ(transport::format_endpoint(sender.endpoint), "vsock:3:1234");
}

TEST(CompatOptions, AbbreviationsAndOrderDoNotMatter) {
    const CompatOptions options = parse_compat_options(
        Args{"--z", "--po=99", "--bu", "64k", "--by=1g", "--se", "7", "--vs", "1M", "--r=2"});
    EXPECT_TRUE(options.zerocopy);
    EXPECT_EQ(transport::format_endpoint(options.endpoint), "vsock:7:99");
    EXPECT_EQ(options.buf_bytes, 65536u);
    EXPECT_EQ(options.bytes, std::uint64_t{1} << 30);
    EXPECT_EQ(options.vsk_bytes, std::uint64_t{1} << 20);
    EXPECT_EQ(options.rcvlowat, 2u);
    EXPECT_THAT(compat_error({"--b", "1"}), StartsWith("--b: may be any of"));
    EXPECT_TRUE(parse_compat_options(Args{"--he", "--nonsense"}).help);
}

TEST(CompatOptions, WrongSizesAreRefusedByName) {
    for (const char* name : {"--bytes", "--buf-size", "--vsk-size", "--rcvlowat"}) {
        for (const char* bad : {"1.5G", "64KB", "abc", "-1", "16E", "0", ""}) {
            EXPECT_THAT(compat_error({name, bad}), StartsWith(std::string(name) + ": "))
                << name << " " << bad;
        }
    }
    EXPECT_THAT(compat_error({"--port", "-1"}), StartsWith("--port: "));
    EXPECT_THAT(compat_error({"--port", "4294967296"}), StartsWith("--port: "));
    EXPECT_THAT(compat_error({"--sender", "any"}), StartsWith("--sender: "));
    EXPECT_THAT(compat_error({"--sender", "localhost"}), StartsWith("--sender: "));
    EXPECT_THAT(compat_error({"--sender"}), HasSubstr("missing"));
    EXPECT_THAT(compat_error({"--listen", "x:y"}), StartsWith("--listen: "));
    EXPECT_THAT(compat_error({"--listen", "unix:/a", "--sender", "3"}), StartsWith("--listen: "));
}

TEST(SenderOptions, WrongValuesAreRefusedByName) {
    for (const char* name : {"--bytes", "--buf-size", "--vsk-size", "--vsk-min-size"}) {
        for (const char* bad : {"1.5G", "64KB", "abc", "-1", "16E", "0", ""}) {
            EXPECT_THAT(sender_error({name, bad}), StartsWith(std::string(name) + ": ")) << bad;
        }
    }
    EXPECT_THAT(sender_error({"--cpu", "x"}), StartsWith("--cpu: "));
    EXPECT_THAT(sender_error({"--threads", "0"}), StartsWith("--threads: "));
    EXPECT_THAT(sender_error({"--duration", "0"}), StartsWith("--duration: "));
    EXPECT_THAT(sender_error({"--duration", "1", "--bytes", "1"}), StartsWith("--duration: "));
    EXPECT_THAT(sender_error({"--bytes", "3", "--threads", "4"}), StartsWith("--bytes: "));
    EXPECT_THAT(sender_error({"--vsk-size", "1M"}), StartsWith("--vsk-size: only vsock"));
    EXPECT_THAT(sender_error({"--nonce", "a b"}), StartsWith("--nonce: "));
    EXPECT_THAT(sender_error({"--connect", "tcp:127.0.0.1:1", "--seqpacket"}),
                StartsWith("--connect: tcp has no seqpacket"));
    EXPECT_THAT(error_of(parse_sender_options, {}), StartsWith("--connect: where to?"));
    EXPECT_THAT(error_of(parse_sender_options, {"--connect", "vsock:any:1"}),
                StartsWith("--connect: "));
    EXPECT_EQ(sender_error({"--bytes", "1", "--cpu", "0,1", "--warmup", "0"}), "");
}

TEST(Help, EndsWithTwoExamples) {
    for (const std::string& help : {sender_help(), compat_help()}) {
        const std::string examples = help.substr(help.find("Examples:\n"));
        EXPECT_EQ(std::count(examples.begin(), examples.end(), '\n'), 3) << help;
    }
}

}  // namespace
}  // namespace vsb::senders
