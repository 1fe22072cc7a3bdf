#pragma once
// Tests only: the folders of published numbers, and what lies in them.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stats/pair.h"

namespace vsb::stats::testing {

// $VSB_REFERENCE_DATA_DIR and $VSB_PUBLISHED_DIR; without them ../shared/... beside the source
// root.
std::filesystem::path reference_folder();
std::filesystem::path published_folder();

// Rows of a CSV file, by the names of its header.
using CsvRow = std::map<std::string, std::string>;
std::vector<CsvRow> read_csv(const std::filesystem::path& file);

// crossover/slf2014_X.csv as pairs: R is A, T is B, sequence RT is AB, in the order of the file.
std::vector<Pair> crossover_set(char name);

}  // namespace vsb::stats::testing

// At the start of a test that reads the folder.
#define VSB_NEED_FOLDER(folder)                                                          \
    if (!std::filesystem::is_directory(folder)) {                                        \
        GTEST_SKIP() << "no folder " << (folder) << " (set the variable that names it)"; \
    }
