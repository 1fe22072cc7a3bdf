#include "reports/published.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "reports/golden.h"
#include "stats/reference_data.h"

namespace vsb::reports {
namespace {

std::string rendered(const datasets::PublishedFile& file) {
    return published_tables(datasets::parse_published(file.name, file.csv));
}

// Lines that are not blank, their runs of blanks as one, none at their ends.
std::vector<std::string> squeezed(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string out;
        for (std::string word; words >> word;)
            out += (out.empty() ? "" : " ") + word;
        if (!out.empty()) lines.push_back(out);
    }
    return lines;
}

TEST(PublishedTablesGolden, EverySeries) {
    for (const datasets::PublishedFile& file : datasets::published_files()) {
        const auto diff =
            golden_diff("published-" + std::string(file.name) + ".txt", rendered(file));
        EXPECT_TRUE(diff.empty()) << diff;
    }
}

// Of the figures the renderer lines up none gains or loses a blank inside a bracket.
TEST(PublishedTables, BlanksInsideBracketsAreThoseOfTheMail) {
    const auto* const file = datasets::find_published("vsock-rx-batching-v5");
    ASSERT_NE(file, nullptr);
    const std::string text = rendered(*file);
    EXPECT_NE(text.find("+9.47% [ +8.05%, +10.90%]"), std::string::npos);
    EXPECT_NE(text.find("+2.88% [ +1.13%,  +4.67%]"), std::string::npos);
    EXPECT_NE(text.find("+0.00%\n"), std::string::npos);
}

std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// What the mail says besides its tables: no line of it may look like a row of one.
bool looks_like_a_row(const std::string& line) {
    static const std::regex figure(R"([+-] ?\d+(\.\d+)?%|\d\d+/\d\d+|Mpps|MB/s)");
    return std::regex_search(line, figure);
}

TEST(PublishedTablesReference, EveryLineStandsInTheMailAndNoTableLineIsMissing) {
    VSB_NEED_FOLDER(stats::testing::published_folder());
    for (const datasets::PublishedFile& file : datasets::published_files()) {
        const std::string name(file.name);
        const auto mail = squeezed(read(stats::testing::published_folder() / (name + ".txt")));
        ASSERT_FALSE(mail.empty()) << name;
        std::size_t at = 0;
        std::vector<std::string> passed_over;
        for (const std::string& line : squeezed(rendered(file))) {
            // The one row that is a sentence in its mail.
            if (line.starts_with("single-threaded SOCK_DGRAM")) continue;
            const std::size_t before = at;
            while (at < mail.size() && mail[at] != line)
                ++at;
            ASSERT_LT(at, mail.size()) << name << ": not in the mail, or out of order: " << line;
            passed_over.insert(passed_over.end(),
                               mail.begin() + static_cast<std::ptrdiff_t>(before),
                               mail.begin() + static_cast<std::ptrdiff_t>(at));
            ++at;
        }
        passed_over.insert(passed_over.end(), mail.begin() + static_cast<std::ptrdiff_t>(at),
                           mail.end());
        for (const std::string& line : passed_over) {
            const bool sentence = line == "difference ranging from -5% to +1%.";
            EXPECT_TRUE(sentence || !looks_like_a_row(line)) << name << ": left out: " << line;
        }
    }
}

}  // namespace
}  // namespace vsb::reports
