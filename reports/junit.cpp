#include "reports/junit.h"

#include <fmt/format.h>

#include <string_view>

#include "reports/escape.h"
#include "reports/judgement.h"
#include "reports/notes.h"

namespace vsb::reports {
namespace {

constexpr std::size_t kLongestText = 1000;

std::string safe(std::string_view text) {
    return html_text(cut(text, kLongestText));
}

}  // namespace

std::string junit(const Comparison& comparison) {
    std::string cases;
    std::size_t total = 0;
    std::size_t failed = 0;
    std::size_t skipped = 0;
    for (const Row& row : comparison.rows) {
        if (!row.headline) continue;
        const Judgement judgement = judge(comparison, row);
        const std::string why = html_text(judgement.why);
        std::string inside;
        ++total;
        if (judgement.result == Judgement::Result::fail) {
            ++failed;
            inside = fmt::format("<failure type=\"{}\" message=\"{}\"/>",
                                 stats::verdict_name(row.result.verdict), why);
        } else if (judgement.result == Judgement::Result::skip) {
            ++skipped;
            inside = fmt::format("<skipped message=\"{}\"/>", why);
        } else {
            inside = fmt::format("<system-out>{}</system-out>", why);
        }
        cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n",
                             safe(row.workload), safe(row.metric), inside);
    }
    std::string warnings;
    for (const Note& note : notes(comparison))
        warnings += safe(note.text) + "\n";
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites tests=\"{0}\" failures=\"{1}\" skipped=\"{2}\">\n"
        "  <testsuite name=\"{3}\" tests=\"{0}\" failures=\"{1}\" skipped=\"{2}\">\n"
        "{4}    <system-out>{5}</system-out>\n"
        "  </testsuite>\n"
        "</testsuites>\n",
        total, failed, skipped, safe(comparison.experiment), cases, warnings);
}

}  // namespace vsb::reports
