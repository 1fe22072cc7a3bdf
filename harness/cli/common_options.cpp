#include "harness/cli/common_options.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "harness/value_text.h"
#include "reports/cover_letter.h"
#include "reports/csv.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/ktap.h"
#include "reports/markdown.h"
#include "reports/text_table.h"

namespace vsb::cli {

void StoreOption::add_to(CLI::App& app) {
    app.add_option("--db", db, "the store (else $VSOCKBENCH_DB, else ./vsockbench.db)")
        ->type_name("FILE");
}

std::filesystem::path StoreOption::file() const {
    if (!db.empty()) return db;
    const char* named = std::getenv("VSOCKBENCH_DB");
    return named != nullptr && *named != '\0' ? named : "./vsockbench.db";
}

void FormatOption::add_to(CLI::App& app, std::initializer_list<const char*> choices) {
    choices_.assign(choices.begin(), choices.end());
    format = choices_.front();
    std::string list;
    for (const std::string& choice : choices_)
        list += (list.empty() ? "" : "|") + choice;
    given_ =
        app.add_option("--format", format, "form of the result (" + format + ")")->type_name(list);
    app.add_flag("--json", json, "short for --format json");
}

std::string FormatOption::chosen() const {
    if (json && given_ != nullptr && given_->count() > 0 && format != "json") {
        throw Failure(kUsage, "--json: --format " + format + " is given too (leave one out)");
    }
    std::string name = json ? "json" : format;
    if (std::ranges::find(choices_, name) != choices_.end()) return name;
    std::string list;
    for (const std::string& choice : choices_)
        list += (list.empty() ? "" : ", ") + choice;
    throw Failure(kUsage, "--format: '" + name + "' is unknown (choose from " + list + ")");
}

void StatisticsOptions::add_to(CLI::App& app) {
    app.add_option("--method", method,
                   "crossover-t, paired-t, normal, hodges-lehmann, sign, bca or permutation "
                   "(crossover-t)")
        ->type_name("NAME");
    app.add_option("--beside", beside, "a second method's intervals beside the headline's")
        ->type_name("NAME");
    app.add_option("--confidence", confidence, "of the intervals (0.95)")->type_name("X|N%");
    app.add_option("--margin", margin, "equivalence margin, as 2%")->type_name("X|N%");
    app.add_option("--adjust", adjust,
                   "p of the headline rows for the table as a whole: holm (no false finding), bh "
                   "(share of false ones), maxt (as holm, using what rows share) (none)")
        ->type_name("none|holm|bh|maxt");
    app.add_flag("--simultaneous", simultaneous,
                 "intervals as well that hold for all headline rows at once (maxT)");
}

reports::CompareOptions StatisticsOptions::parsed() const {
    reports::CompareOptions options;
    const auto read = [](const char* option, auto parse) {
        try {
            parse();
        } catch (const std::invalid_argument& error) {
            throw Failure(kUsage, std::string(option) + ": " + error.what());
        }
    };
    if (!method.empty()) {
        read("--method", [&] { options.method = stats::parse_method(method); });
    }
    if (!beside.empty()) {
        read("--beside", [&] { options.beside = stats::parse_method(beside); });
    }
    if (!confidence.empty()) {
        read("--confidence", [&] {
            options.confidence = harness::parse_fraction(confidence);
            if (!(options.confidence > 0 && options.confidence < 1)) {
                throw std::invalid_argument("'" + confidence + "' is not between 0 and 1");
            }
        });
    }
    if (!margin.empty()) {
        read("--margin", [&] {
            options.margin = harness::parse_fraction(margin);
            if (!(*options.margin > 0 && *options.margin < 100)) {
                throw std::invalid_argument("'" + margin + "' is no margin above 0");
            }
        });
    }
    static constexpr std::array<std::string_view, 4> kAdjust{"none", "holm", "bh", "maxt"};
    if (std::ranges::find(kAdjust, adjust) == kAdjust.end()) {
        throw Failure(kUsage,
                      "--adjust: '" + adjust + "' is unknown (choose from none, holm, bh, maxt)");
    }
    options.adjust = adjust;
    options.simultaneous = simultaneous;
    return options;
}

std::string rendered(const reports::Comparison& comparison, const std::string& format) {
    if (format == "json") return reports::json(comparison);
    if (format == "csv") return reports::csv(comparison);
    if (format == "markdown") return reports::markdown(comparison);
    if (format == "cover-letter") return reports::cover_letter(comparison);
    if (format == "ktap") return reports::ktap(comparison);
    if (format == "junit") return reports::junit(comparison);
    return reports::text_table(comparison, stdout_columns());
}

}  // namespace vsb::cli
