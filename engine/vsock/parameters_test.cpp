#include "engine/vsock/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace vsb::engine {
namespace {

using testing::HasSubstr;
using Given = std::vector<std::pair<std::string, std::uint64_t>>;

std::string refusal(const Given& given) {
    try {
        parse_vsock_rx(given);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "accepted";
}

TEST(Parameters, DefaultsAreTheKernels) {
    const VsockRxParameters p = parse_vsock_rx({});
    EXPECT_EQ(p.limits.max_pkts, 64U);
    EXPECT_EQ(p.limits.max_bytes, 65536U);
    EXPECT_EQ(p.ring_size, 128);
    EXPECT_EQ(p.rx_buf_bytes, 4096U);
    EXPECT_EQ(p.buf_alloc, 262144U);
    EXPECT_EQ(p.rcvlowat, 1U);
    EXPECT_EQ(p.kick_cost_ns, 0U);
    EXPECT_EQ(p.irq_cost_ns, 0U);
    for (const auto& info : vsock_rx_parameters()) {
        EXPECT_LE(info.low, info.default_value) << info.name;
        EXPECT_LE(info.default_value, info.high) << info.name;
        EXPECT_FALSE(info.summary.empty());
    }
}

TEST(Parameters, EveryListedParameterArrives) {
    const Given given{{"max-pkts", 3},       {"max-bytes", 5},     {"ring-size", 16},
                      {"rx-buf-bytes", 777}, {"buf-alloc", 12345}, {"rcvlowat", 9},
                      {"event-idx", 0},      {"flows", 4},         {"kick-cost-ns", 11},
                      {"irq-cost-ns", 13}};
    ASSERT_EQ(given.size(), vsock_rx_parameters().size());
    const VsockRxParameters p = parse_vsock_rx(given);
    EXPECT_EQ(p.limits.max_pkts, 3U);
    EXPECT_EQ(p.limits.max_bytes, 5U);
    EXPECT_EQ(p.ring_size, 16);
    EXPECT_EQ(p.rx_buf_bytes, 777U);
    EXPECT_EQ(p.buf_alloc, 12345U);
    EXPECT_EQ(p.rcvlowat, 9U);
    EXPECT_FALSE(p.event_idx);
    EXPECT_EQ(p.flows, 4U);
    EXPECT_EQ(p.kick_cost_ns, 11U);
    EXPECT_EQ(p.irq_cost_ns, 13U);
}

TEST(Parameters, RefusalsNameTheParameterTheValueAndWhatIsAllowed) {
    EXPECT_THAT(refusal({{"max-packets", 1}}), HasSubstr("there are max-pkts, max-bytes"));
    EXPECT_THAT(refusal({{"max-pkts", 0}}), HasSubstr("max-pkts is 0, allowed are 1 to 32768"));
    EXPECT_THAT(refusal({{"ring-size", 100}}), HasSubstr("not a power of two"));
    EXPECT_THAT(refusal({{"max-pkts", 1}, {"max-pkts", 2}}), HasSubstr("given twice"));
    EXPECT_THAT(refusal({{"buf-alloc", 10}, {"rcvlowat", 11}}), HasSubstr("exceeds buf-alloc"));
    EXPECT_EQ(refusal({{"buf-alloc", 10}, {"rcvlowat", 10}}), "accepted");
}

TEST(Parameters, WorkloadsThatCannotEndAreRefused) {
    VsockRxParameters p;
    Workload w;
    check_vsock_rx_workload(p, w);
    w.payload_bytes = 0;
    EXPECT_THROW(check_vsock_rx_workload(p, w), std::invalid_argument);
    w.payload_bytes = (1 << 20) + 1;
    EXPECT_THROW(check_vsock_rx_workload(p, w), std::invalid_argument);
    w = {};
    w.writes = 0;
    EXPECT_THROW(check_vsock_rx_workload(p, w), std::invalid_argument);
    w = {};
    p.rcvlowat = 100;
    w.recv_bytes = 99;
    EXPECT_THROW(check_vsock_rx_workload(p, w), std::invalid_argument);
    w.recv_bytes = 100;
    check_vsock_rx_workload(p, w);
    w.kind = Kind::rtt;
    EXPECT_THROW(check_vsock_rx_workload(p, w), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::engine
