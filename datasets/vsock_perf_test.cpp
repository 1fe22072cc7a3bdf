#include "datasets/vsock_perf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/import_error.h"
#include "datasets/store_fixture.h"

namespace vsb::datasets {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string fixture(const std::string& name) {
    return read_bytes(std::string(VSB_SOURCE_DIR) + "/datasets/fixtures/" + name);
}

std::string fault(const std::string& text) {
    try {
        read_vsock_perf(text, "log");
    } catch (const ImportError& error) {
        return error.what();
    }
    return "(none)";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(VsockPerfTest, ReadsTodaysSender) {
    const auto file = read_vsock_perf(fixture("vsock_perf_sender.txt"), "log");
    ASSERT_EQ(file.runs.size(), 1U);
    const ForeignRun& run = file.runs[0];
    EXPECT_EQ(run.workload.name, "tx/64B");
    EXPECT_EQ(run.workload.kind, "tx");
    EXPECT_EQ(run.workload.payload_bytes, 64);
    EXPECT_EQ(run.workload.writes, 1048576);
    EXPECT_EQ(run.wall_time_ns, 12'201'612'000);
    ASSERT_EQ(run.measurements.size(), 3U);
    EXPECT_EQ(run.measurements[0].metric, "throughput");
    EXPECT_EQ(run.measurements[0].unit, "Gbit/s");
    // Not the 0.05 printed, which is over the time inside send().
    EXPECT_DOUBLE_EQ(run.measurements[0].value, 67108864 * 8 / 1e9 / 12.201612);
    EXPECT_EQ(run.measurements[1].value, 12.201612);
    EXPECT_EQ(run.measurements[2].value, 10.737418);
    ASSERT_EQ(file.notes.size(), 1U);
    EXPECT_THAT(file.notes[0], HasSubstr("over the whole tx loop"));
}

TEST(VsockPerfTest, ReadsTheReceiver) {
    const auto file = read_vsock_perf(fixture("vsock_perf_receiver.txt"), "log");
    const ForeignRun& run = file.runs.at(0);
    EXPECT_EQ(run.workload.name, "rx/64K");
    EXPECT_EQ(run.workload.recv_bytes, 65536);
    EXPECT_EQ(run.workload.payload_bytes, 0);
    ASSERT_EQ(run.measurements.size(), 4U);
    EXPECT_EQ(run.measurements[0].value, 0.0439);
    EXPECT_EQ(run.measurements[3].metric, "poll_wakeups");
    EXPECT_EQ(run.measurements[3].value, 1048576);
    EXPECT_TRUE(file.notes.empty());
}

TEST(VsockPerfTest, ReadsTheOlderSenderAndPassesOverAShellsEcho) {
    const auto file = read_vsock_perf(fixture("vsock_perf_old.txt"), "log");
    const ForeignRun& run = file.runs.at(0);
    EXPECT_EQ(run.workload.name, "tx/4K");
    ASSERT_EQ(run.measurements.size(), 2U);
    EXPECT_EQ(run.measurements[0].value, 1.0);
    EXPECT_TRUE(file.notes.empty());
}

TEST(VsockPerfTest, ARateOverTheLoopIsTakenAsPrinted) {
    // As vsb-sender prints it.
    const auto file = read_vsock_perf(
        replaced(fixture("vsock_perf_sender.txt"), "0.050000 Gbits", "0.044000 Gbits"), "log");
    EXPECT_EQ(file.runs.at(0).measurements[0].value, 0.044);
    EXPECT_TRUE(file.notes.empty());
}

TEST(VsockPerfTest, BothEndsMayShareALogLineByLine) {
    const std::string mixed =
        "Run as receiver\nListen port 1234\nRun as sender MSG_ZEROCOPY\nRX buffer 65536 bytes\n"
        "Connect to 3:1234\r\nvsock buffer 262144 bytes\nSend 65536000 bytes\n"
        "SO_RCVLOWAT 1 bytes\nTX buffer 1500 bytes\n\ntotal bytes sent: 65536000\n"
        "total bytes received: 65536000\ntx performance: 1.000000 Gbits/s\n"
        "rx performance: 0.900000 Gbits/s\ntotal time in 'read()': 0.100000 sec\n"
        "total time in tx loop: 0.524288 sec\naverage time in 'read()': 100.000000 ns\n"
        "time in 'send()': 0.524280 sec\nPOLLIN wakeups: 1000\n";
    const auto file = read_vsock_perf(mixed + mixed, "log");
    ASSERT_EQ(file.runs.size(), 4U);
    EXPECT_EQ(file.runs[0].workload.name, "rx/64K");
    EXPECT_EQ(file.runs[1].workload.name, "tx-zerocopy/1500B");
    EXPECT_EQ(file.runs[1].workload.writes, 43691);
    EXPECT_EQ(file.runs[3].measurements[0].value, 1.0);
    EXPECT_THAT(fault(replaced(mixed, "received: 65536000", "received: 65535000")),
                StartsWith("log:12: column 1: received is not what was sent by line 11"));
}

TEST(VsockPerfTest, RefusesWhatItCannotBeSureOf) {
    const std::string good = fixture("vsock_perf_sender.txt");
    const auto with = [&](const std::string& from, const std::string& to) {
        return fault(replaced(good, from, to));
    };
    EXPECT_THAT(fault(""), StartsWith("log:1: column 1: there is no run"));
    EXPECT_THAT(fault("hello\n"), StartsWith("log:1: column 1: 'hello' is no line"));
    EXPECT_THAT(fault("Send 1 bytes\n"), HasSubstr("no 'Run as' line before it"));
    EXPECT_THAT(with("total time in tx loop: 12.201612 sec\n", ""),
                StartsWith("log:1: column 1: this run has no line 'total time in tx loop'"));
    EXPECT_THAT(with("time in 'send()': 10.737418 sec\n", ""), HasSubstr("'time in 'send()''"));
    EXPECT_THAT(fault(good.substr(0, 52)), HasSubstr("was it cut off?"));
    EXPECT_THAT(fault(good.substr(0, good.find("tx perf")) + good), HasSubstr("cut off?"));
    EXPECT_THAT(with("0.050000", "-nan"), StartsWith("log:6: column 17: '-nan' is no number"));
    for (const char* bad : {"inf", "1e999", "-0.05", "", "0x1p3", "0.05 0.05", "+1"}) {
        EXPECT_THAT(with("0.050000", bad), StartsWith("log:6: column 17: ")) << bad;
    }
    EXPECT_THAT(with("0.050000", "0.000000"), HasSubstr("it is zero"));
    EXPECT_THAT(with("0.050000", "0.051000"),
                StartsWith("log:6: column 1: the rate is that of no"));
    EXPECT_THAT(with("Send 67108864", "Send 67108865"), HasSubstr("fewer bytes were sent"));
    EXPECT_THAT(with("TX buffer 64", "TX buffer 0"), StartsWith("log:4: column 1: it is zero"));
    EXPECT_THAT(with("TX buffer 64", "TX buffer -64"), StartsWith("log:4: column 11:"));
    EXPECT_THAT(with("TX buffer 64", "TX buffer 18446744073709551615"), HasSubstr("2^53"));
    EXPECT_THAT(with("Connect", "TX buffer 64 bytes\nConnect"),
                StartsWith("log:5: column 1: the run that starts on line 1 has this already, on "
                           "line 2"));
    EXPECT_THAT(with("Connect", "connect: Connection refused\nConnect"), StartsWith("log:2:"));
    EXPECT_THAT(fault("Run as sender\nConnect to 2:1\nSend 1000 bytes\nTX buffer 1000 bytes\n"
                      "total bytes sent: 1000\ntx performance: 0.800000 Gbits/s\n"
                      "total time in tx loop: 0.000030 sec\ntime in 'send()': 0.000010 sec\n"),
                StartsWith("log:7: column 1: the loop is too short"));
}

}  // namespace
}  // namespace vsb::datasets
