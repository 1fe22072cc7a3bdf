// What holds for every writer, and the golden files of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "reports/cover_letter.h"
#include "reports/csv.h"
#include "reports/escape.h"
#include "reports/golden.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/ktap.h"
#include "reports/markdown.h"
#include "reports/sample.h"
#include "reports/text_table.h"

namespace vsb::reports {
namespace {

std::size_t longest_line(const std::string& text) {
    std::istringstream in(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(in, line);)
        longest = std::max(longest, line.size());
    return longest;
}

bool is_plain_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); });
}

void expect_golden(const std::string& name, const std::string& text) {
    const std::string diff = golden_diff(name, text);
    EXPECT_TRUE(diff.empty()) << diff;
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++n;
    return n;
}

// Every p of the comparisons of sample.cpp is one that no other figure prints as.
Comparison interim() {
    Comparison c = sample::typical();
    c.interim = true;
    return c;
}

struct Named {
    const char* name;
    Comparison value;
};

// As --adjust maxt --simultaneous makes it.
Comparison adjusted() {
    Comparison c = sample::full();
    c.adjust = "maxt";
    c.table_sign = TableSign{20, 27, 0.0314};
    for (Row& row : c.rows) {
        if (!row.headline) continue;
        row.p_adjusted = 0.0271;
        row.simultaneous = stats::Interval{row.result.ci.low - 0.01, row.result.ci.high + 0.01};
    }
    return c;
}

std::vector<Named> samples() {
    return {{"full", sample::full()},         {"typical", sample::typical()},
            {"imported", sample::imported()}, {"hostile", sample::hostile()},
            {"interim", interim()},           {"empty", Comparison{}},
            {"adjusted", adjusted()}};
}

TEST(TextGolden, Full100) {
    expect_golden("full-100.txt", text_table(sample::full(), 100));
}
TEST(TextGolden, Full72) {
    expect_golden("full-72.txt", text_table(sample::full(), 72));
}
TEST(TextGolden, Typical) {
    expect_golden("typical-100.txt", text_table(sample::typical()));
}
TEST(TextGolden, Imported) {
    expect_golden("imported.txt", text_table(sample::imported()));
}
TEST(TextGolden, Interim) {
    expect_golden("interim.txt", text_table(interim()));
}
TEST(TextGolden, Hostile) {
    expect_golden("hostile.txt", text_table(sample::hostile()));
}
TEST(CoverLetterGolden, Full) {
    expect_golden("cover-full.txt", cover_letter(sample::full()));
}
TEST(CoverLetterGolden, Typical) {
    expect_golden("cover-typical.txt", cover_letter(sample::typical()));
}
TEST(CoverLetterGolden, Imported) {
    expect_golden("cover-imported.txt", cover_letter(sample::imported()));
}
TEST(CoverLetterGolden, Hostile) {
    expect_golden("cover-hostile.txt", cover_letter(sample::hostile()));
}
TEST(JsonGolden, Typical) {
    expect_golden("typical.json", json(sample::typical()));
}
TEST(CsvGolden, Typical) {
    expect_golden("typical.csv", csv(sample::typical()));
}
TEST(CsvGolden, Hostile) {
    expect_golden("hostile.csv", csv(sample::hostile()));
}
TEST(MarkdownGolden, Typical) {
    expect_golden("typical.md", markdown(sample::typical()));
}
TEST(MarkdownGolden, Hostile) {
    expect_golden("hostile.md", markdown(sample::hostile()));
}
TEST(KtapGolden, Typical) {
    expect_golden("typical.ktap", ktap(sample::typical()));
}
TEST(JunitGolden, Typical) {
    expect_golden("typical.junit.xml", junit(sample::typical()));
}

TEST(TextTable, FitsItsColumnsInAscii) {
    for (const Named& sample : samples()) {
        for (std::size_t columns = 60; columns <= 120; ++columns) {
            const std::string text = text_table(sample.value, columns);
            EXPECT_LE(longest_line(text), columns) << sample.name;
            EXPECT_TRUE(is_plain_ascii(text)) << sample.name;
        }
    }
}

// What has no room beside the headline stands below it: at no width is a column missing.
TEST(TextTable, LosesNoColumnAtAnyWidth) {
    for (std::size_t columns = 60; columns <= 180; columns += 6) {
        const std::string text = text_table(adjusted(), columns);
        for (const char* wanted :
             {"p (maxt)", "0.027", "all rows [95% CI]", "Hodges-Lehmann [95% CI]", "sign p",
              "16/16", "recv() A/B", "verdict", "20 of 27", "(sign p 0.031"}) {
            EXPECT_NE(text.find(wanted), std::string::npos) << columns << ": " << wanted;
        }
    }
}

TEST(CoverLetter, SaysWhatHoldsForTheTableAsAWhole) {
    const std::string text = cover_letter(adjusted());
    for (const char* wanted : {"p (maxt): 0.027 in every row", "interval for all rows at once: ",
                               "B is better in 20 of 27", "p adjusted over the table: maxt"}) {
        std::string flat = text;
        std::replace(flat.begin(), flat.end(), '\n', ' ');
        flat.erase(std::unique(flat.begin(), flat.end(),
                               [](char a, char b) { return a == ' ' && b == ' '; }),
                   flat.end());
        EXPECT_NE(flat.find(wanted), std::string::npos) << wanted;
    }
    EXPECT_NE(markdown(adjusted()).find("p (maxt)"), std::string::npos);
}

TEST(TextTable, KeepsChangeAndVerdictAt72) {
    const std::string text = text_table(sample::full(), 72);
    EXPECT_NE(text.find("+122.25% [+113.06%, +131.85%]"), std::string::npos);
    EXPECT_EQ(count(text, "verdict"), 4U);
}

TEST(TextTable, InterimSaysSoAndHasNeitherPNorVerdict) {
    const std::string text = text_table(interim());
    EXPECT_EQ(text.rfind("INTERIM", 0), 0U);
    EXPECT_EQ(text.find("<0.001"), std::string::npos);
    EXPECT_EQ(text.find("0.420"), std::string::npos);
    EXPECT_EQ(text.find("verdict"), std::string::npos);
    EXPECT_NE(text_table(sample::typical()).find("0.420"), std::string::npos);  // else
}

TEST(CoverLetter, FitsA72ColumnMailInAscii) {
    for (const Named& sample : samples()) {
        const std::string text = cover_letter(sample.value);
        EXPECT_LE(longest_line(text), 72U) << sample.name;
        EXPECT_TRUE(is_plain_ascii(text)) << sample.name;
    }
}

TEST(CoverLetter, AnswersAReviewer) {
    const std::string text = cover_letter(sample::full());
    for (const char* wanted :
         {"policy=per-packet", "policy=deferred-notify,max-pkts=64", "3f2a9c41d6b7",
          "16 pairs per workload (8 AB, 8 BA)", "seed 42", "95% intervals", "6.1.0-26-amd64",
          "receiver on CPU 0, worker on CPU 1", "4K/2G", "10,000 requests", "1048577/1048577",
          "536799/525225", "not a kernel", "bytes did not",
          "the interval holds 0 in all rtt rows"}) {
        std::string flat = text;
        std::replace(flat.begin(), flat.end(), '\n', ' ');
        flat.erase(std::unique(flat.begin(), flat.end(),
                               [](char a, char b) { return a == ' ' && b == ' '; }),
                   flat.end());
        EXPECT_NE(flat.find(wanted), std::string::npos) << wanted;
    }
}

TEST(CoverLetter, ClaimsNothingThatIsNotRecorded) {
    Comparison c = sample::full();
    c.record->environment.clear();
    c.record->project_commit.clear();
    const std::string text = cover_letter(c);
    EXPECT_NE(text.find("machine      not recorded"), std::string::npos);
    EXPECT_NE(text.find("pinning      not recorded"), std::string::npos);
    EXPECT_EQ(text.find("commit"), std::string::npos);
    EXPECT_EQ(text.find("governor"), std::string::npos);
}

TEST(CoverLetter, OneStateTwiceIsNoPatch) {
    Comparison c = sample::full();
    c.record->states[1].spec = c.record->states[0].spec;
    const std::string text = cover_letter(c);
    EXPECT_NE(text.find("A/A run"), std::string::npos);
    EXPECT_EQ(text.find("PATCH"), std::string::npos);
}

// The schema's own words, checked without a validator: types, required keys, nothing beyond them.
void hold_to_schema(const nlohmann::json& value, const nlohmann::json& schema,
                    const std::string& where) {
    if (schema.contains("const")) {
        EXPECT_EQ(value, schema["const"]) << where;
        return;
    }
    if (schema.contains("enum")) {
        const auto& choices = schema["enum"];
        EXPECT_NE(std::find(choices.begin(), choices.end(), value), choices.end()) << where;
        return;
    }
    std::vector<std::string> types;
    if (schema.at("type").is_string()) {
        types = {schema["type"].get<std::string>()};
    } else {
        types = schema["type"].get<std::vector<std::string>>();
    }
    const std::string type = value.is_number_integer() ? "integer" : value.type_name();
    const bool fits = std::any_of(types.begin(), types.end(), [&](const std::string& wanted) {
        return wanted == type || (wanted == "number" && type == "integer");
    });
    EXPECT_TRUE(fits) << where << ": " << value.dump() << " is no " << schema["type"].dump();
    if (value.is_object()) {
        for (const auto& key : schema.value("required", nlohmann::json::array())) {
            EXPECT_TRUE(value.contains(key)) << where << " lacks " << key;
        }
        for (const auto& [key, inner] : value.items()) {
            if (schema.contains("properties") && schema["properties"].contains(key)) {
                hold_to_schema(inner, schema["properties"][key], where + "." + key);
            } else if (schema.contains("additionalProperties") &&
                       schema["additionalProperties"].is_object()) {
                hold_to_schema(inner, schema["additionalProperties"], where + "." + key);
            } else {
                ADD_FAILURE() << where << "." << key << " is not in the schema";
            }
        }
    }
    if (value.is_array()) {
        for (const auto& inner : value)
            hold_to_schema(inner, schema.at("items"), where + "[]");
    }
}

TEST(Json, HoldsToItsSchema) {
    std::ifstream in(std::string(VSB_SOURCE_DIR) + "/reports/comparison.schema.json");
    const nlohmann::json schema = nlohmann::json::parse(in);
    for (const Named& sample : samples()) {
        const std::string text = json(sample.value);
        EXPECT_TRUE(is_plain_ascii(text)) << sample.name;
        hold_to_schema(nlohmann::json::parse(text), schema, sample.name);
    }
}

TEST(Json, NumbersThatDoNotExistAreNull) {
    const auto out = nlohmann::json::parse(json(sample::imported()));
    EXPECT_TRUE(out["margin"].is_null());
    EXPECT_TRUE(out["record"].is_null());
    EXPECT_EQ(out["rows"][0]["unit"], "");
    EXPECT_TRUE(out["rows"][1]["period"]["effect"].is_null());
    EXPECT_TRUE(out["rows"][1]["hodges_lehmann"]["low"].is_null());
    EXPECT_DOUBLE_EQ(out["rows"][0]["change"].get<double>(), 0.0714);
}

TEST(Json, InterimHasNoP) {
    const auto out = nlohmann::json::parse(json(interim()));
    EXPECT_TRUE(out["interim"].get<bool>());
    for (const auto& row : out["rows"]) {
        EXPECT_TRUE(row["p"].is_null());
        EXPECT_TRUE(row["faster"]["p"].is_null());
        EXPECT_TRUE(row["period"]["p"].is_null());
        EXPECT_TRUE(row["carryover"]["p"].is_null());
        EXPECT_TRUE(row["verdict"].is_null());
    }
}

TEST(Csv, EveryLineHasTheHeadersCells) {
    for (const Named& sample : samples()) {
        std::istringstream in(csv(sample.value));
        std::size_t lines = 0;
        for (std::string line; std::getline(in, line); ++lines) {
            std::size_t cells = 1;
            bool quoted = false;
            bool starts = true;
            for (const char c : line) {
                if (starts) {
                    // Only a figure may start with a sign.
                    EXPECT_EQ(std::string("=@+").find(c), std::string::npos) << line;
                }
                starts = false;
                if (c == '"') quoted = !quoted;
                if (c == ',' && !quoted) {
                    ++cells;
                    starts = true;
                }
            }
            EXPECT_EQ(cells, 31U) << line;
        }
        EXPECT_EQ(lines, sample.value.rows.size() + 1) << sample.name;
    }
}

TEST(Markdown, HostileTextStartsNothing) {
    const std::string text = markdown(sample::hostile());
    for (const char* bad :
         {"<script", "<img", "[a](http", "http://", "\x1b", "\u202e", "**b", " @team"}) {
        EXPECT_EQ(text.find(bad), std::string::npos) << bad;
    }
    std::string lines = text;
    std::erase(lines, '\n');
    EXPECT_EQ(lines, printable(lines));
    // Every line of a table has its heading's number of bars.
    std::istringstream in(text);
    std::size_t bars = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line.front() != '|') {
            bars = 0;
            continue;
        }
        if (bars != 0) {
            EXPECT_EQ(count(line, "|"), bars) << line;
        }
        bars = count(line, "|");
    }
}

TEST(Ktap, PlanAndVerdicts) {
    Comparison c = sample::typical();
    c.rows[0].result.verdict = stats::Verdict::slower;
    c.rows[2].result.verdict = stats::Verdict::equivalent;
    std::string text = ktap(c);
    EXPECT_EQ(text.rfind("KTAP version 1\n1..8\n", 0), 0U) << text;
    EXPECT_NE(text.find("\nnot ok 1 fixed/64B throughput\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nok 2 fixed/64K throughput\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nok 5 rtt/64B rtt_mean # SKIP"), std::string::npos) << text;
    c.margin = 0.02;
    text = ktap(c);
    EXPECT_NE(text.find("\nnot ok 5 rtt/64B rtt_mean\n"), std::string::npos) << text;
    EXPECT_NE(text.find("margin 2%"), std::string::npos) << text;
    EXPECT_EQ(count(ktap(interim()), "# SKIP"), 8U);
}

TEST(Ktap, HostileNamesAddNoTest) {
    const std::string text = ktap(sample::hostile());
    EXPECT_TRUE(is_plain_ascii(text));
    std::istringstream in(text);
    std::size_t results = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.rfind("ok", 0) == 0 || line.rfind("not ok", 0) == 0) ++results;
    }
    EXPECT_EQ(text.substr(0, text.find('\n', 15)), "KTAP version 1\n1.." + std::to_string(results));
}

TEST(Junit, CountsAndEscapes) {
    Comparison c = sample::typical();
    c.rows[0].result.verdict = stats::Verdict::slower;
    const std::string text = junit(c);
    EXPECT_NE(text.find("tests=\"8\" failures=\"1\" skipped=\"3\""), std::string::npos) << text;
    EXPECT_EQ(count(text, "<failure"), 1U);
    const std::string hostile = junit(sample::hostile());
    EXPECT_EQ(hostile.find("<script"), std::string::npos);
    EXPECT_EQ(count(hostile, "<testcase"), count(hostile, "</testcase>"));
    for (const char c2 : hostile)
        EXPECT_TRUE(c2 == '\n' || static_cast<unsigned char>(c2) >= 0x20);
}

}  // namespace
}  // namespace vsb::reports
