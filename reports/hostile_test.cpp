// Names nobody may trust, through every writer: each format still reads as itself, by a reader of
// its own, and holds nothing that would run, steer a terminal or forge a line.
#include <gtest/gtest.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "reports/cover_letter.h"
#include "reports/csv.h"
#include "reports/escape.h"
#include "reports/history_csv.h"
#include "reports/history_html.h"
#include "reports/history_json.h"
#include "reports/history_plot.h"
#include "reports/history_sample.h"
#include "reports/history_text.h"
#include "reports/html.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/ktap.h"
#include "reports/markdown.h"
#include "reports/markup.h"
#include "reports/sample.h"
#include "reports/text_table.h"

namespace vsb::reports {
namespace {

const std::vector<std::string>& names() {
    static const std::vector<std::string> all = {
        std::string("nul\0\x1b[31mred\x07\r\n\tx\x7f", 18),
        "</script><script>alert(1)</script><img src=x onerror=y>",
        "\" onload=\"x' y='",
        "]]> &amp; <!-- --> &#0;",
        "=cmd()|'/c calc'!A1",
        "+1",
        "-2+3",
        "@SUM(A1)",
        "  =1,\"q\"",
        "x # SKIP never",
        "x\nnot ok 9 forged\nok 10 # TODO",
        "`touch ran`\"'\\@{/Symbol q}",
        "[a](http://evil.example/) **b** | d",
        "abc\u202edcba\u2066\u200b\u009b31m\uffff",
        "bad\xff\xc0\xaf\xed\xa0\x80z",
        std::string(10000, 'n'),
        std::string(5000, '#') + std::string(5000, '<'),
        "",
    };
    return all;
}

Comparison hostile_comparison(const std::string& name) {
    Comparison c = sample::typical();
    c.experiment = name;
    for (Row& row : c.rows) {
        row.workload = row.workload.substr(0, 2) + name;
        row.metric = name;
        row.unit = name;
        row.result.warnings.push_back({name, name});
    }
    c.rows[0].workload = name;
    c.rows[0].result.verdict = stats::Verdict::slower;
    for (MeansOnly& means : c.means)
        means.workload = means.metric = means.unit = name;
    c.warnings.push_back({name, name});
    datasets::ExperimentRecord& record = c.record.value();
    record.name = record.target = record.uuid = record.started = record.project_commit =
        record.tool_version = name;
    for (auto& state : record.states)
        state.spec = name;
    for (auto& workload : record.workloads)
        workload.name = workload.kind = name;
    for (auto& [key, value] : record.environment)
        value = name;
    record.environment["warning." + name] = name;
    return c;
}

History hostile_history(const std::string& name) {
    static const History base = sample::nights(
        24,
        [](std::size_t w, std::size_t day) {
            return sample::scattered(w, day, 0.005) - (w == 0 && day >= 16 ? 0.05 : 0);
        },
        0.005);
    History h = base;
    h.name = h.target = h.a_spec = h.options.accepted = name;
    for (HistoryNight& night : h.nights)
        night.commit = night.b_spec = name;
    h.nights[0].started = name;
    h.nights[16].started = name;
    for (HistoryWorkload& workload : h.workloads)
        workload.name = workload.metric = workload.unit = name;
    h.left_out = {{3, name, name}};
    h.warnings = {{name, name}};
    for (Alarm& alarm : h.alarms)
        alarm.also = {name};
    return h;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

// Each answers what is wrong, or nothing.
std::string check_ascii(const std::string& text) {
    for (const char c : text)
        if (c != '\n' && (c < 0x20 || c >= 0x7f)) return "a character that is no plain ASCII";
    return "";
}

std::string check_ascii_72(const std::string& text) {
    for (const std::string& line : lines_of(text))
        if (line.size() > 72) return "a line of " + std::to_string(line.size());
    return check_ascii(text);
}

std::string check_json(const std::string& text) {
    if (!nlohmann::json::accept(text)) return "no JSON";
    return check_ascii(text);
}

std::string check_csv(const std::string& text) {
    std::size_t columns = 0;
    for (const std::string& line : lines_of(text)) {
        if (printable(line) != line) return "a control character";
        std::vector<std::string> cells(1);
        bool quoted = false;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (line[i] == '"') {
                if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
                    cells.back() += line[++i];
                } else {
                    quoted = !quoted;
                }
            } else if (line[i] == ',' && !quoted) {
                cells.emplace_back();
            } else {
                cells.back() += line[i];
            }
        }
        if (quoted) return "a quote without its end";
        if (columns == 0) columns = cells.size();
        if (cells.size() != columns) return "a line of " + std::to_string(cells.size()) + " cells";
        for (const std::string& cell : cells) {
            const std::size_t first = cell.find_first_not_of(' ');
            if (first == std::string::npos ||
                std::string("=+-@").find(cell[first]) == std::string::npos)
                continue;
            if (cell.find_first_not_of("0123456789.-+e") != std::string::npos ||
                cell[first] == '+' || cell == "-2+3") {
                return "a formula: " + cell.substr(0, 40);
            }
        }
    }
    return "";
}

std::string check_markdown(const std::string& text) {
    for (const std::string& line : lines_of(text))
        if (printable(line) != line) return "a control character";
    for (const char* bad : {"<script", "<img", "](http:", "<!--", "\n=cmd"})
        if (text.find(bad) != std::string::npos) return std::string("markup: ") + bad;
    return "";
}

std::string check_page(const std::string& text) {
    const Markup page = read_markup(text, {"meta"});
    if (!page.error.empty()) return page.error;
    static const std::vector<std::string> known = {
        "html",    "head",    "meta",       "title", "style", "body", "h1",    "h2",
        "p",       "section", "ul",         "li",    "div",   "span", "table", "thead",
        "tbody",   "tr",      "th",         "td",    "dl",    "dt",   "dd",    "details",
        "summary", "figure",  "figcaption", "svg",   "g"};
    for (const Element& element : page.elements) {
        if (std::ranges::find(known, element.name) == known.end())
            return "an element " + element.name;
        for (const auto& [key, value] : element.attributes) {
            if (key.starts_with("on") || key == "src" || key == "href")
                return "an attribute " + key;
        }
    }
    for (const std::string& line : lines_of(text))
        if (printable(line) != line) return "a control character";
    return "";
}

// The shape that CI servers read: testsuites > testsuite > testcase*, with the counts it states.
std::string check_junit(const std::string& text) {
    const Markup xml = read_markup(text);
    if (!xml.error.empty()) return xml.error;
    const auto count = [&](const std::string& name) {
        return std::to_string(std::ranges::count(xml.elements, name, &Element::name));
    };
    for (const Element& element : xml.elements) {
        const std::string wanted = element.name == "testsuites"   ? ""
                                   : element.name == "testsuite"  ? "testsuites"
                                   : element.name == "testcase"   ? "testsuite"
                                   : element.name == "failure"    ? "testcase"
                                   : element.name == "skipped"    ? "testcase"
                                   : element.name == "system-out" ? element.parent
                                                                  : "?";
        if (element.parent != wanted) return element.name + " within " + element.parent;
        if (element.name == "testsuite" || element.name == "testsuites") {
            if (element.attributes.at("tests") != count("testcase") ||
                element.attributes.at("failures") != count("failure") ||
                element.attributes.at("skipped") != count("skipped")) {
                return "counts that are not those of the cases";
            }
        }
        if (element.name == "testcase" &&
            (!element.attributes.contains("name") || !element.attributes.contains("classname"))) {
            return "a case without a name";
        }
        if (element.name == "failure" && !element.attributes.contains("message")) {
            return "a failure without a message";
        }
    }
    if (count("testcase") == "0") return "no case";
    for (const std::string& line : lines_of(text))
        if (printable(line) != line) return "a control character";
    return "";
}

// Documentation/dev-tools/ktap.rst: a version line, a plan, numbered results, '#' for a directive
// or a diagnostic line.
std::string check_ktap(const std::string& text) {
    const auto lines = lines_of(text);
    if (lines.size() < 2 || lines[0] != "KTAP version 1") return "no version line";
    if (!lines[1].starts_with("1..")) return "no plan";
    std::size_t results = 0;
    std::size_t failed = 0;
    for (std::size_t i = 2; i < lines.size(); ++i) {
        std::string line = lines[i];
        if (line.starts_with("# ")) continue;
        if (line.starts_with("not ")) {
            ++failed;
            line.erase(0, 4);
        }
        const std::string number = std::to_string(++results);
        if (!line.starts_with("ok " + number + " ")) return "a line that is no result: " + line;
        const std::size_t sign = line.find('#');
        if (sign != std::string::npos && line.substr(sign) != "# SKIP not decided") {
            return "a directive: " + line.substr(sign, 40);
        }
    }
    if (lines[1] != "1.." + std::to_string(results)) return "a plan of other than its results";
    if (failed != 1) return std::to_string(failed) + " failures where one row is slower";
    return check_ascii(text);
}

std::string check_plot(const std::string& text) {
    for (const char c : text)
        if (c == '`' || c == '@') return std::string("a ") + c;
    return "";
}

Drawing drawn(const Plot&) {
    return {"<svg viewBox=\"0 0 1 1\"><g id='a'/></svg>", ""};
}

struct Writer {
    const char* name;
    std::function<std::string(const Comparison&, const History&)> write;
    std::function<std::string(const std::string&)> check;
};

std::vector<Writer> writers() {
    return {
        {"text", [](const auto& c, const auto&) { return text_table(c, 72); }, check_ascii_72},
        {"cover letter", [](const auto& c, const auto&) { return cover_letter(c); },
         check_ascii_72},
        {"json", [](const auto& c, const auto&) { return json(c); }, check_json},
        {"csv", [](const auto& c, const auto&) { return csv(c); }, check_csv},
        {"markdown", [](const auto& c, const auto&) { return markdown(c); }, check_markdown},
        {"html",
         [](const auto& c, const auto&) {
             HtmlExtras extras;
             extras.plotter = drawn;
             extras.rtt = {{c.experiment, {1, 2}, {2, 3}}};
             extras.batch_sizes = {{c.experiment, {0, 10}, {0, 1, 0, 5}}};
             return html(c, extras);
         },
         check_page},
        {"ktap", [](const auto& c, const auto&) { return ktap(c); }, check_ktap},
        {"junit", [](const auto& c, const auto&) { return junit(c); }, check_junit},
        {"history text", [](const auto&, const auto& h) { return history_text(h, 72); },
         check_ascii_72},
        {"history summary", [](const auto&, const auto& h) { return history_summary(h); },
         check_ascii},
        {"history json", [](const auto&, const auto& h) { return history_json(h); }, check_json},
        {"history csv", [](const auto&, const auto& h) { return history_csv(h); }, check_csv},
        {"history html", [](const auto&, const auto& h) { return history_html(h, drawn); },
         check_page},
        {"trend plot",
         [](const auto&, const auto& h) {
             const Plot plot = trend_plot(h, 0);
             return plot.script + plot.data.at(0).text + plot.data.at(1).text;
         },
         check_plot},
    };
}

TEST(HostileNames, EveryWriterStaysWhatItIs) {
    for (const std::string& name : names()) {
        const Comparison comparison = hostile_comparison(name);
        const History history = hostile_history(name);
        ASSERT_EQ(history.alarms.size(), 1U);
        for (const Writer& writer : writers()) {
            const std::string text = writer.write(comparison, history);
            EXPECT_EQ(writer.check(text), "") << writer.name << " of " << ascii(name.substr(0, 60));
            EXPECT_LT(text.size(), 2'000'000U) << writer.name;
        }
    }
}

// Exit code of xmllint over the text with our schema; 127 where there is none.
int xmllint(const std::string& text) {
    std::string file = testing::TempDir() + "vsb-junit-XXXXXX";
    const int fd = mkstemp(file.data());
    if (fd < 0) return -1;
    const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    close(fd);
    std::string program = "xmllint";
    std::string quiet = "-noout";
    std::string option = "-schema";
    std::string schema = std::string(VSB_SOURCE_DIR) + "/reports/junit.xsd";
    char* arguments[] = {program.data(), quiet.data(), option.data(),
                         schema.data(),  file.data(),  nullptr};
    pid_t pid = -1;
    int status = -1;
    const int error = posix_spawnp(&pid, "xmllint", nullptr, nullptr, arguments, environ);
    if (error == 0) waitpid(pid, &status, 0);
    unlink(file.c_str());
    if (!written) return -1;
    return error != 0 ? 127 : WEXITSTATUS(status);
}

// With the real program; skipped where it is not installed.
TEST(JunitHost, HoldsToItsSchema) {
    if (xmllint("<none/>") == 127) GTEST_SKIP() << "no xmllint here";
    EXPECT_NE(xmllint("<none/>"), 0);
    EXPECT_EQ(xmllint(junit(sample::typical())), 0);
    EXPECT_EQ(xmllint(junit(Comparison{})), 0);
    for (const std::string& name : names())
        EXPECT_EQ(xmllint(junit(hostile_comparison(name))), 0) << ascii(name.substr(0, 60));
}

// The checks themselves see what they are for.
TEST(HostileNames, TheChecksAreNoBlindOnes) {
    EXPECT_NE(check_ascii("a\x1b"), "");
    EXPECT_NE(check_csv("a,b\n=1+cmd,2\n"), "");
    EXPECT_NE(check_csv("a,b\n1\n"), "");
    EXPECT_EQ(check_csv("a,b\n'=1,\"x,\"\"y\"\n-1.5,1e-05\n"), "");
    EXPECT_NE(check_page("<html><b></html>"), "");
    EXPECT_NE(check_page("<html><p title=\"a\" onclick=\"b\">x</p></html>"), "");
    EXPECT_NE(check_page("<html><p>a & b</p></html>"), "");
    EXPECT_NE(check_page("<html><script>x</script></html>"), "");
    EXPECT_NE(check_ktap("KTAP version 1\n1..1\nnot ok 1 a\nok 2 b\n"), "");
    EXPECT_NE(check_ktap("KTAP version 1\n1..1\nnot ok 1 a # TODO\n"), "");
    EXPECT_EQ(check_ktap("KTAP version 1\n1..1\n# why\nnot ok 1 a\n"), "");
    EXPECT_NE(check_junit("<testsuites tests=\"1\" failures=\"0\" skipped=\"0\"></testsuites>"),
              "");
    EXPECT_NE(check_markdown("a <script>"), "");
    EXPECT_NE(check_plot("`x`"), "");
}

}  // namespace
}  // namespace vsb::reports
