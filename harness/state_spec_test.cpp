#include "harness/state_spec.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <set>
#include <stdexcept>

namespace vsb::harness {
namespace {

using Items = std::vector<std::pair<std::string, std::string>>;

TEST(StateSpec, ItemsInTheirOrder) {
    const StateSpec spec = parse_state_spec("policy=lock-batch,max-pkts=64,max-bytes=64K");
    EXPECT_EQ(spec.items,
              (Items{{"policy", "lock-batch"}, {"max-pkts", "64"}, {"max-bytes", "64K"}}));
    ASSERT_NE(spec.find("max-pkts"), nullptr);
    EXPECT_EQ(*spec.find("max-pkts"), "64");
    EXPECT_EQ(spec.find("pkts"), nullptr);
    EXPECT_TRUE(parse_state_spec("").items.empty());
}

TEST(StateSpec, EscapedCommaIsLiteral) {
    const StateSpec spec = parse_state_spec("cmdline=isolcpus=0\\,1,pre=a\\b");
    EXPECT_EQ(spec.items, (Items{{"cmdline", "isolcpus=0,1"}, {"pre", "a\\b"}}));
}

TEST(StateSpec, RefusesWhatIsNoKeyValue) {
    for (const char* bad : {",", "a", "a=", "=b", "a=1,", ",a=1", "a=1,,b=2", "a=1,a=2", "lock"}) {
        EXPECT_THROW(parse_state_spec(bad), std::invalid_argument) << bad;
    }
}

TEST(StateSpec, SomeKeysMayRepeat) {
    constexpr std::array<std::string_view, 1> kRepeatable{"sysctl"};
    EXPECT_EQ(parse_state_spec("sysctl=a:1,sysctl=b:2", kRepeatable).items.size(), 2U);
    EXPECT_THROW(parse_state_spec("kernel=x,kernel=y", kRepeatable), std::invalid_argument);
}

TEST(StateSpec, TextReadsBack) {
    rc::check("spec -> text -> spec", [] {
        const auto character = rc::gen::element('a', ',', '=', '-', '\\', ' ', ':', 'K');
        StateSpec spec;
        std::set<std::string> keys;
        for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
            const std::string key = "k" + std::to_string(i);
            std::string value = *rc::gen::container<std::string>(character);
            // A backslash before a comma or at the end of an item has no spelling of its own.
            std::erase(value, '\\');
            if (value.empty()) value = "v";
            if (keys.insert(key).second) spec.items.emplace_back(key, value);
        }
        RC_ASSERT(parse_state_spec(state_spec_text(spec)).items == spec.items);
    });
}

}  // namespace
}  // namespace vsb::harness
