#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/output.h"
#include "harness/value_text.h"
#include "reports/audit.h"
#include "reports/audit_json.h"
#include "reports/audit_text.h"

namespace vsb::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 20;

struct AuditCommand {
    std::string input;
    std::string pairs;
    std::string confidence;
    std::string method;
    FormatOption format;
};

std::string read_capped(std::istream& in, const std::string& name) {
    std::string text(kMostBytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) throw Failure(kUsage, name + ": cannot be read to its end (try again)");
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMostBytes) {
        throw Failure(kUsage, name + ": is longer than 8 MiB (cut out the mail with the tables)");
    }
    return text;
}

std::string read_input(const std::string& input) {
    if (input == "-") return read_capped(std::cin, "stdin");
    errno = 0;
    std::ifstream file(input, std::ios::binary);
    // A folder opens and cannot be read.
    if (!file || file.peek() == std::ifstream::traits_type::eof()) {
        if (errno != 0) {
            throw Failure(kUsage, input + ": cannot be read: " + std::strerror(errno) +
                                      " (FILE is a text with tables, or - for stdin)");
        }
        return {};
    }
    return read_capped(file, input);
}

template <typename Parse>
void read_option(const char* name, const std::string& text, const Parse& parse) {
    if (text.empty()) return;
    try {
        parse();
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string(name) + ": " + error.what());
    }
}

reports::AuditOptions parsed(const AuditCommand& command) {
    reports::AuditOptions options;
    read_option("--pairs", command.pairs, [&] {
        options.pairs = harness::parse_count(command.pairs);
        if (*options.pairs < 2 || *options.pairs > 100'000) {
            throw std::invalid_argument("'" + command.pairs + "' is not between 2 and 100000");
        }
    });
    read_option("--confidence", command.confidence, [&] {
        options.confidence = harness::parse_fraction(command.confidence);
        if (!(*options.confidence > 0 && *options.confidence < 1)) {
            throw std::invalid_argument("'" + command.confidence + "' is not between 0 and 1");
        }
    });
    read_option("--method", command.method, [&] {
        if (command.method == "crossover-t") {
            options.method = stats::PublishedMethod::crossover_t;
        } else if (command.method == "paired-t") {
            options.method = stats::PublishedMethod::paired_t;
        } else if (command.method == "normal") {
            options.method = stats::PublishedMethod::normal;
        } else {
            throw std::invalid_argument("'" + command.method +
                                        "' is unknown (choose from crossover-t, paired-t, normal)");
        }
    });
    return options;
}

int audit(const AuditCommand& command) {
    const std::string format = command.format.chosen();
    const reports::AuditOptions options = parsed(command);
    const reports::Audit found = reports::audit(read_input(command.input), options);
    write_result(format == "json" ? reports::audit_json(found)
                                  : reports::audit_text(found, stdout_columns()));
    if (found.rows.empty()) {
        say("vsockbench: audit: no row of a table with a change was found in " +
            (command.input == "-" ? "stdin" : command.input) +
            " (a row is a label, two means, a change with its sign, and its interval)");
    }
    return found.inconsistent > 0 ? kGateFailed : kDone;
}

}  // namespace

Command add_audit(CLI::App& program) {
    auto options = std::make_shared<AuditCommand>();
    CLI::App* app = program.add_subcommand(
        "audit", "are the tables of a mail consistent: change, interval and means of each row?");
    app->add_option("FILE", options->input, "text with tables, quoted or not; - for stdin")
        ->required();
    app->add_option("--pairs", options->pairs,
                    "pairs behind each row, for SE and p (else what the text says)")
        ->type_name("N");
    app->add_option("--confidence", options->confidence,
                    "of the intervals (else what the text says, else 0.95)")
        ->type_name("X|N%");
    app->add_option("--method", options->method,
                    "how the intervals were made: crossover-t, paired-t or normal")
        ->type_name("NAME");
    options->format.add_to(*app, {"text", "json"});
    app->footer(
        "Exit codes: 0 no row is inconsistent, 1 one is, 2 the input cannot be read.\n"
        "\nExamples:\n"
        "  vsockbench audit cover-letter.txt\n"
        "  vsockbench report last | vsockbench audit - --json");
    return {app, [options] { return audit(*options); }};
}

}  // namespace vsb::cli
