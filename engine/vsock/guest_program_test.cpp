// Loss, repetition, reordering and corruption must not pass the receiver's check.

#include "engine/vsock/guest_program.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/vsock/test_rig.h"

namespace vsb::engine {
namespace {

class GuestProgramTest : public testing::Test {
  protected:
    static constexpr std::size_t kPiece = 64;
    GuestProgramTest() : rig("per-packet"), sk(rig.connected(7)) {
        sk.hold();
        guest = std::make_unique<GuestProgram>(rig.ctx, sk, pattern,
                                               GuestProgram::Plan{kPiece * 1000, 0, 65536});
    }
    ~GuestProgramTest() override { guest.reset(); }
    std::vector<std::byte> piece(std::size_t n) {
        PatternCursor at(pattern);
        for (std::size_t i = 0; i < n; ++i)
            at.advance(kPiece);
        return {at.bytes(), at.bytes() + kPiece};
    }
    void take(std::size_t n) {
        const auto bytes = piece(n);
        guest->take(bytes.data(), kPiece, rig.me);
    }
    Pattern pattern{42};
    Rig rig;
    Socket& sk;
    std::unique_ptr<GuestProgram> guest;
};

TEST_F(GuestProgramTest, InOrderMatchesBeyondThePeriod) {
    for (std::size_t n = 0; n < 3000; ++n)
        take(n);
    EXPECT_TRUE(guest->matches());
    EXPECT_EQ(guest->received_bytes(), 3000 * kPiece);
    EXPECT_GT(guest->last_byte_ns(), 0U);
}

TEST_F(GuestProgramTest, LossIsSeen) {
    take(0);
    take(2);
    EXPECT_FALSE(guest->matches());
    EXPECT_EQ(guest->mismatch_at(), kPiece);
}

TEST_F(GuestProgramTest, RepetitionIsSeen) {
    take(0);
    take(0);
    EXPECT_FALSE(guest->matches());
}

TEST_F(GuestProgramTest, ReorderingIsSeen) {
    take(1);
    EXPECT_FALSE(guest->matches());
}

TEST_F(GuestProgramTest, OneFlippedBitIsSeen) {
    auto bytes = piece(0);
    bytes[63] ^= std::byte{1};
    guest->take(bytes.data(), kPiece, rig.me);
    EXPECT_FALSE(guest->matches());
}

TEST(Pattern, DependsOnItsSeedAndRepeatsOnlyAfterItsPeriod) {
    const Pattern a(1);
    const Pattern b(2);
    EXPECT_FALSE(PatternCursor(a).matches(b.at(0), 64));
    for (std::size_t shift = 1; shift < 2000; ++shift)
        EXPECT_NE(std::memcmp(a.at(0), a.at(shift), 64), 0) << shift;
    PatternCursor cursor(a);
    std::vector<std::byte> two_periods;
    for (std::size_t i = 0; i < 2 * Pattern::kPeriod; ++i)
        two_periods.push_back(*a.at(i % Pattern::kPeriod));
    EXPECT_TRUE(cursor.matches(two_periods.data(), two_periods.size()));
}

}  // namespace
}  // namespace vsb::engine
