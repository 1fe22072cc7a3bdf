#include "receivers/receiver_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "transport/errors.h"

namespace vsb::receivers {
namespace {

using ::testing::StartsWith;

std::string error_of(std::vector<std::string> args) {
    args.insert(args.begin(), {"--listen", "unix:/s"});
    try {
        parse_receiver_options(args);
    } catch (const transport::UsageError& error) {
        return error.what();
    }
    return "";
}

TEST(ReceiverOptions, DefaultsAreAPlainBlockingReceiver) {
    const std::vector<std::string> args = {"--listen", "vsock:any:99"};
    const ReceiverOptions options = parse_receiver_options(args);
    EXPECT_EQ(options.mode, Mode::recv);
    EXPECT_EQ(options.recv_bytes, 65536u);
    EXPECT_TRUE(options.control);
    EXPECT_EQ(transport::format_endpoint(options.endpoint), "vsock:any:99");
}

TEST(ReceiverOptions, WrongValuesAreRefusedByName) {
    for (const char* name : {"--recv-size", "--rcvlowat", "--vsk-size", "--vsk-max-size"}) {
        for (const char* bad : {"1.5G", "64KB", "abc", "-1", "16E", "0", ""}) {
            EXPECT_THAT(error_of({name, bad}), StartsWith(std::string(name) + ": ")) << bad;
        }
    }
    EXPECT_THAT(error_of({"--mode", "select"}), StartsWith("--mode: "));
    EXPECT_THAT(error_of({"--ready-fd", "0"}), StartsWith("--ready-fd: "));
    EXPECT_THAT(error_of({"--vsk-size", "1M"}), StartsWith("--vsk-size: only vsock"));
    EXPECT_THAT(error_of({"--expect", "1M"}), StartsWith("--expect: the sender tells it"));
    EXPECT_THAT(error_of({"--control", "none", "--recv-size", "match"}),
                StartsWith("--recv-size: match"));
    EXPECT_THAT(error_of({"--control", "none", "--nonce", "x"}), StartsWith("--nonce: "));
    EXPECT_EQ(error_of({"--control", "none", "--expect", "1M", "--seed", "4"}), "");
    EXPECT_EQ(error_of({"--recv-size", "match"}), "");
}

TEST(ReceiverOptions, HelpEndsWithTwoExamples) {
    const std::string help = receiver_help();
    const std::string examples = help.substr(help.find("Examples:\n"));
    EXPECT_EQ(std::count(examples.begin(), examples.end(), '\n'), 3);
}

}  // namespace
}  // namespace vsb::receivers
