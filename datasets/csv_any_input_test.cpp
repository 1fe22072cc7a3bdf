#include "datasets/csv_any_input.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <sstream>

#include "datasets/csv.h"
#include "datasets/mutated_text.h"

namespace vsb::datasets {
namespace {

const std::string kGood =
    "workload,pair,order,state,value,metric,unit\n"
    "fixed/64B,1,AB,A,0.129,throughput,Gbit/s\nfixed/64B,1,AB,B,0.2489,throughput,Gbit/s\n"
    "\"rtt, 4K\",2,BA,B,2.5e1,rtt_mean,us\n\"rtt, 4K\",2,BA,A,24,rtt_mean,us\n"
    "fixed/64B,2,BA,A,0.13,throughput,Gbit/s\nfixed/64B,2,BA,B,0.25,throughput,Gbit/s\n";

constexpr std::array<std::string_view, 20> kPieces = {",",
                                                      "\"",
                                                      "\"\"",
                                                      "\n",
                                                      "\r\n",
                                                      "AB",
                                                      "BA",
                                                      "A",
                                                      "B",
                                                      "nan",
                                                      "1e999",
                                                      "0",
                                                      "-1",
                                                      "1e-320",
                                                      "'=",
                                                      "\xff",
                                                      "\t",
                                                      "9223372036854775807",
                                                      "\xef\xbb\xbf",
                                                      "fixed/64B,1,AB,A,0.129,throughput,Gbit/s\n"};

TEST(CsvAnyInputTest, MutatedFilesAreReadOrRefused) {
    std::mt19937_64 random(20261130);
    std::size_t read = 0;
    std::size_t refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::string text = mutated(kGood, kPieces, random);
        ASSERT_EQ(broken_promise(text), "") << text;
        std::istringstream in(text);
        try {
            read_csv(in, "m", {});
            ++read;
        } catch (const CsvError&) {
            ++refused;
        }
    }
    // Both ways were gone often.
    EXPECT_GT(read, 200U);
    EXPECT_GT(refused, 5000U);
}

TEST(CsvAnyInputTest, NoiseIsRefused) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 2000; ++i) {
        std::string text(random() % 300, '\0');
        for (char& byte : text)
            byte = static_cast<char>(random());
        ASSERT_EQ(broken_promise(text), "");
        ASSERT_EQ(broken_promise(kGood.substr(0, 44) + text), "");
    }
}

}  // namespace
}  // namespace vsb::datasets
