// What a tool does in user space for one send() or recv(), counted by callgrind: instructions, no
// times. The difference of a long and a short run leaves the start and the end out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <regex>

#include "transport/results.h"
#include "transport/testing/child.h"

namespace vsb::senders {
namespace {

using transport::read_results;
using transport::testing::Child;
using transport::testing::program;
using transport::testing::TemporaryFolder;

constexpr const char* kValgrind = "/usr/bin/valgrind";
constexpr double kMost = 100.0;  // instructions

using Args = std::vector<std::string>;

Args counted(const Args& args) {
    Args all = {kValgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"};
    all.insert(all.end(), args.begin(), args.end());
    return all;
}

double instructions(const std::string& err) {
    std::smatch match;
    const std::regex collected("Collected : ([0-9]+)");
    if (!std::regex_search(err, match, collected)) throw std::runtime_error(err);
    return std::stod(match[1]);
}

struct Cost {
    double instructions = 0, calls = 0;
};

// One transfer with the sender or the receiver under callgrind.
Cost cost(bool sender, int kilo_writes) {
    const TemporaryFolder folder;
    const std::string endpoint = "unix:" + folder.path() + "/s";
    const Args receive = {program(VSB_BIN_DIR, "vsb-receiver"),
                          "--listen",
                          endpoint,
                          "--recv-size",
                          "match",
                          "--ready-fd",
                          "3"};
    const Args send = {
        program(VSB_BIN_DIR, "vsb-sender"),    "--connect", endpoint, "--buf-size", "64", "--bytes",
        std::to_string(64 * kilo_writes) + "K"};
    Child receiver(sender ? receive : counted(receive));
    receiver.ready();
    Child other(sender ? counted(send) : send);
    EXPECT_EQ(other.wait(120), 0) << other.err();
    EXPECT_EQ(receiver.wait(120), 0) << receiver.err();
    Child& measured = sender ? other : receiver;
    const auto fields = read_results(measured.out()).fields;
    return {instructions(measured.err()),
            static_cast<double>(fields.number(sender ? "sends" : "recvs"))};
}

double per_call(bool sender) {
    const Cost low = cost(sender, 4);
    const Cost high = cost(sender, 36);
    EXPECT_GT(high.calls - low.calls, 30000.0);
    return (high.instructions - low.instructions) / (high.calls - low.calls);
}

class ToolCostSlow : public ::testing::Test {
  protected:
    void SetUp() override {
#ifdef VSB_NOT_STATIC
        GTEST_SKIP() << "valgrind does not run programs built with sanitizers";
#endif
        if (::access(kValgrind, X_OK) != 0) GTEST_SKIP() << "valgrind is not installed";
    }
};

TEST_F(ToolCostSlow, ASendCostsUnder100Instructions) {
    const double sending = per_call(true);
    RecordProperty("instructions_per_send", std::to_string(sending));
    EXPECT_GT(sending, 5.0) << "the count is not of the loop";
    EXPECT_LT(sending, kMost);
}

TEST_F(ToolCostSlow, ARecvCostsUnder100Instructions) {
    const double receiving = per_call(false);
    RecordProperty("instructions_per_recv", std::to_string(receiving));
    EXPECT_GT(receiving, 5.0) << "the count is not of the loop";
    EXPECT_LT(receiving, kMost);
}

}  // namespace
}  // namespace vsb::senders
