#pragma once
// Options that several commands share, read the same way in each.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

#include "reports/comparison.h"

namespace vsb::cli {

// --db FILE, else $VSOCKBENCH_DB, else ./vsockbench.db.
struct StoreOption {
    std::string db;
    void add_to(CLI::App& app);
    std::filesystem::path file() const;
};

// --format NAME and --json, which is short for --format json.
struct FormatOption {
    std::string format = "text";
    bool json = false;
    void add_to(CLI::App& app, std::initializer_list<const char*> choices);
    // Throws Failure (2) for a name that is none of the choices, or both forms at odds.
    std::string chosen() const;

  private:
    CLI::Option* given_ = nullptr;
    std::vector<std::string> choices_;
};

// --method, --beside, --confidence, --margin, --adjust, --simultaneous.
struct StatisticsOptions {
    std::string method;
    std::string beside;
    std::string confidence;
    std::string margin;
    std::string adjust = "none";
    bool simultaneous = false;
    void add_to(CLI::App& app);
    reports::CompareOptions parsed() const;  // throws Failure (2) naming the option
};

// The comparison in the format chosen: text, json, csv, markdown, cover-letter, ktap or junit.
std::string rendered(const reports::Comparison& comparison, const std::string& format);

}  // namespace vsb::cli
