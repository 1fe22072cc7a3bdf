// The program `vsockbench`: options in, one command run, an exit code out.
#include <array>
#include <vector>

#include "harness/build_facts.h"
#include "harness/cli/command.h"
#include "harness/cli/failure.h"
#include "harness/cli/output.h"

namespace vsb::cli {
namespace {

std::string version_text() {
    std::string text = std::string("vsockbench ") + harness::kVersion;
    if (*harness::kCommit != '\0') text += std::string(" (") + harness::kCommit + ")";
    return text;
}

const CLI::App* chosen_command(const CLI::App& program) {
    const auto chosen = program.get_subcommands();
    return chosen.empty() ? nullptr : chosen.front();
}

int command_line(int argc, char** argv) {
    CLI::App program{"A/B performance experiments for AF_VSOCK and vhost, ready for a cover letter",
                     "vsockbench"};
    program.set_version_flag("--version", version_text());
    program.require_subcommand(1);
    program.footer(
        "Examples:\n"
        "  vsockbench run demo\n"
        "  vsockbench report last --format cover-letter\n"
        "\nExit codes: 0 done, 1 a gate failed, 2 usage or bad input, 3 not measured,\n"
        "4 skipped (this machine lacks something), 130 interrupted.");
    std::vector<Command> commands;
    for (const auto add :
         {add_run, add_compare, add_report, add_audit, add_plan, add_list, add_show, add_import,
          add_export, add_history, add_nightly, add_guest, add_sweep, add_calibrate}) {
        commands.push_back(add(program));
    }
    try {
        program.parse(argc, argv);
    } catch (const CLI::CallForVersion&) {
        write_result(version_text() + "\n");
        return kDone;
    } catch (const CLI::CallForHelp&) {
        const CLI::App* command = chosen_command(program);
        write_result(command != nullptr ? command->help("vsockbench") : program.help());
        return kDone;
    } catch (const CLI::ParseError& error) {
        // CLI11's own exit codes (103 to 110) are nobody's convention.
        const CLI::App* command = chosen_command(program);
        const std::string name =
            command != nullptr ? "vsockbench " + command->get_name() : "vsockbench";
        std::string why = error.what();
        for (char& c : why)
            c = c == '\n' ? ' ' : c;
        throw Failure(kUsage, (command != nullptr ? command->get_name() + ": " : "usage: ") + why +
                                  " (see " + name + " --help)");
    }
    for (const Command& command : commands) {
        if (command.app->parsed()) return command.run();
    }
    return kUsage;
}

}  // namespace
}  // namespace vsb::cli

int main(int argc, char** argv) {
    vsb::cli::prepare_streams();
    return vsb::cli::report_failures(vsb::cli::command_line, argc, argv);
}
