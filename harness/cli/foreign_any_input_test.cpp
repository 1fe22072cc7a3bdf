#include "harness/cli/foreign_any_input.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <random>

#include "datasets/mutated_text.h"
#include "harness/scratch_folder.h"

namespace vsb::cli {
namespace {

constexpr std::array<std::string_view, 34> kPieces = {"nan",
                                                      "-nan",
                                                      "inf",
                                                      "1e999",
                                                      "-1",
                                                      "0",
                                                      "1e308",
                                                      "1e-320",
                                                      "18446744073709551616",
                                                      "0x1p3",
                                                      "{",
                                                      "}",
                                                      "[",
                                                      "]",
                                                      "\"",
                                                      ":",
                                                      ",",
                                                      "null",
                                                      "true",
                                                      "\\u0000",
                                                      "\\ud800",
                                                      "\n",
                                                      "\r\n",
                                                      "\t",
                                                      " ",
                                                      "Run as sender\n",
                                                      "Run as receiver\n",
                                                      "Unit ns/op better=higher\n",
                                                      "BenchmarkX 1 2 ns/op\n",
                                                      "<not counted>",
                                                      "\xff",
                                                      "\x1b[2J",
                                                      "\"real_time\":",
                                                      "[[[[[[[[[[[[[[[[[[[["};

TEST(ForeignAnyInputTest, MutatedFilesAreReadOrRefused) {
    std::mt19937_64 random(20261130);
    std::size_t fixtures = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(VSB_SOURCE_DIR) + "/datasets/fixtures")) {
        ++fixtures;
        const std::string name = entry.path().filename().string();
        const std::string good = vsb::harness::file_text(entry.path());
        const AnyInput untouched = try_any_input(good);
        EXPECT_EQ(untouched.broken, "") << name;
        EXPECT_EQ(untouched.read, entry.path().filename() == "pairs.csv" ? 0U : 1U) << name;
        std::size_t read = 0;
        constexpr int kRounds = 400;
        for (int i = 0; i < kRounds; ++i) {
            const std::string text = datasets::mutated(good, kPieces, random);
            const AnyInput tried = try_any_input(text);
            ASSERT_EQ(tried.broken, "") << name << "\n" << text;
            read += tried.read;
        }
        // Both ways were gone.
        if (name != "pairs.csv") {
            EXPECT_GT(read, 10U) << name;
        }
        EXPECT_LT(read, std::size_t{kRounds} * 9 / 10) << name;
    }
    EXPECT_GE(fixtures, 10U);
}

TEST(ForeignAnyInputTest, NoiseIsRefused) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 500; ++i) {
        std::string text(random() % 300, '\0');
        for (char& byte : text)
            byte = static_cast<char>(random());
        const AnyInput tried = try_any_input(text);
        ASSERT_EQ(tried.broken, "");
        ASSERT_EQ(tried.read, 0U);
    }
}

}  // namespace
}  // namespace vsb::cli
