#include "engine/headline.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace vsb::engine {
namespace {

Outcome of(std::uint64_t bytes, std::uint64_t units, std::uint64_t ns) {
    Outcome outcome;
    outcome.bytes_received = bytes;
    outcome.units = units;
    outcome.first_to_last_ns = ns;
    return outcome;
}

TEST(Headline, EverySystemHasItsUnitAndItsArithmetic) {
    // 1000 packets of 250 bytes in 2 ms.
    const Outcome outcome = of(250'000, 1000, 2'000'000);
    for (const auto* system : {"virtio-vsock-rx", "vhost-vsock-used"}) {
        EXPECT_EQ(headline(system, outcome).unit, "Gbit/s");
        EXPECT_DOUBLE_EQ(headline(system, outcome).value, 1.0);
    }
    EXPECT_EQ(headline("vhost-net-rx", outcome).unit, "Mpps");
    EXPECT_EQ(headline("vhost-net-rx", outcome).metric, "packet_rate");
    EXPECT_DOUBLE_EQ(headline("vhost-net-rx", outcome).value, 0.5);
    EXPECT_EQ(headline("dgram-sendmsg", outcome).unit, "MB/s");
    EXPECT_DOUBLE_EQ(headline("dgram-sendmsg", outcome).value, 125.0);
}

TEST(Headline, NoFigureWithoutATrialThatSucceeded) {
    Outcome failed = of(1, 1, 1);
    failed.failure = "deadline";
    EXPECT_THROW(headline("vhost-net-rx", failed), std::invalid_argument);
    EXPECT_THROW(headline("vhost-net-rx", of(1, 1, 0)), std::invalid_argument);
    EXPECT_THROW(headline("vhost-nett-rx", of(1, 1, 1)), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::engine
