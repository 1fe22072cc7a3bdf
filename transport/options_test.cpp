#include "transport/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/errors.h"
#include "transport/number.h"

namespace vsb::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

struct Parsed {
    std::uint64_t bytes = 1, buf = 2;
    std::uint64_t seconds_ns = 0;
    bool flag = false;
    std::size_t choice = 99;
    std::string error;
};

Parsed parse(const std::vector<std::string>& args) {
    Parsed to;
    Options options;
    options.size("bytes", "", to.bytes, 1, std::uint64_t{1} << 40);
    options.size("buf-size", "", to.buf, 1, std::uint64_t{1} << 30);
    options.seconds("duration", "", to.seconds_ns);
    options.flag("zerocopy", "", to.flag);
    options.choice("mode", "", {"recv", "poll"}, [&to](std::size_t i) { to.choice = i; });
    options.value("mod", "X", "", [](std::string_view) {});
    try {
        options.parse(args);
    } catch (const UsageError& error) {
        to.error = error.what();
    }
    return to;
}

TEST(Options, TakeValuesEitherWayAndAbbreviated) {
    EXPECT_EQ(parse({"--bytes", "64K"}).bytes, 65536u);
    EXPECT_EQ(parse({"--bytes=64K"}).bytes, 65536u);
    EXPECT_EQ(parse({"--by=3"}).bytes, 3u);
    EXPECT_EQ(parse({"--bu", "3"}).buf, 3u);
    EXPECT_TRUE(parse({"--z"}).flag);
    EXPECT_EQ(parse({"--duration", "0.5"}).seconds_ns, 500000000u);
    EXPECT_EQ(parse({"--mode", "poll"}).choice, 1u);
    EXPECT_EQ(parse({"--bytes", "1", "--bytes", "2"}).bytes, 2u) << "the last one holds";
}

TEST(Options, AnExactNameIsNotAmbiguous) {
    EXPECT_EQ(parse({"--mod", "x"}).error, "");
}

TEST(Options, ErrorsStartWithTheOption) {
    EXPECT_THAT(parse({"--b", "1"}).error, StartsWith("--b: may be any of --bytes, --buf-size"));
    EXPECT_THAT(parse({"--mo", "x"}).error, StartsWith("--mo: may be any of --mode, --mod"));
    EXPECT_THAT(parse({"--nope"}).error, StartsWith("--nope: there is no such option"));
    EXPECT_THAT(parse({"--bytes"}).error, StartsWith("--bytes: its value is missing"));
    EXPECT_THAT(parse({"--zerocopy=1"}).error, StartsWith("--zerocopy: takes no value"));
    EXPECT_THAT(parse({"--mode", "x"}).error, StartsWith("--mode: 'x' is none of recv|poll"));
    EXPECT_THAT(parse({"-b", "1"}).error, StartsWith("-b: is no option"));
    EXPECT_THAT(parse({"file"}).error, StartsWith("file: is no option"));
    EXPECT_THAT(parse({"--"}).error, StartsWith("--: is no option"));
    EXPECT_THAT(parse({"--=1"}).error, StartsWith("--: there is no such option"));
}

TEST(Options, SizesOfEveryWrongKindAreRefusedByName) {
    for (const char* bad : {"1.5G", "64KB", "abc", "-1", "16E", "0", "", " 1", "2T"}) {
        EXPECT_THAT(parse({"--byt", bad}).error, StartsWith("--bytes: ")) << bad;
        EXPECT_THAT(parse({std::string("--buf-size=") + bad}).error, StartsWith("--buf-size: "))
            << bad;
    }
}

TEST(ParseSeconds, TakesFractionsAndNothingElse) {
    EXPECT_EQ(parse_seconds("2"), 2000000000u);
    EXPECT_EQ(parse_seconds("0.000000001"), 1u);
    EXPECT_EQ(parse_seconds("1000000"), 1000000000000000u);
    for (const char* bad : {"", "0", "-1", "1e3", ".5", "5.", "0.0000000001", "1000001", "1.2.3",
                            "nan", "1000000.5", "1s"}) {
        EXPECT_THROW(parse_seconds(bad), std::invalid_argument) << bad;
    }
}

TEST(ParseCpus, ReadsAList) {
    EXPECT_THAT(parse_cpus("0"), ElementsAre(0));
    EXPECT_THAT(parse_cpus("3,1"), ElementsAre(3, 1));
    for (const char* bad : {"", ",", "1,", "-1", "1-2", "65536", "a"}) {
        EXPECT_THROW(parse_cpus(bad), std::invalid_argument) << bad;
    }
}

}  // namespace
}  // namespace vsb::transport
