#pragma once
// A subcommand: its options on a CLI::App, and what it does once they are parsed. One file each.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace vsb::cli {

struct Command {
    CLI::App* app = nullptr;
    std::function<int()> run;  // returns the exit code; throws as report_failures() catches
};

Command add_run(CLI::App& program);
Command add_compare(CLI::App& program);
Command add_report(CLI::App& program);
Command add_plan(CLI::App& program);
Command add_list(CLI::App& program);
Command add_show(CLI::App& program);
Command add_import(CLI::App& program);
Command add_export(CLI::App& program);
Command add_history(CLI::App& program);
Command add_nightly(CLI::App& program);
Command add_audit(CLI::App& program);
Command add_guest(CLI::App& program);
Command add_sweep(CLI::App& program);
Command add_calibrate(CLI::App& program);

}  // namespace vsb::cli
