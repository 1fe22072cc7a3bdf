#include "stats/reference_data.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace vsb::stats::testing {

namespace {

std::filesystem::path folder(const char* variable, const char* name) {
    if (const char* set = std::getenv(variable)) return set;
    return std::filesystem::path(VSB_SOURCE_DIR) / ".." / "shared" / name;
}

std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> out;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');)
        out.push_back(cell);
    return out;
}

}  // namespace

std::filesystem::path reference_folder() {
    return folder("VSB_REFERENCE_DATA_DIR", "reference-data");
}

std::filesystem::path published_folder() {
    return folder("VSB_PUBLISHED_DIR", "published");
}

std::vector<CsvRow> read_csv(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("cannot read " + file.string());
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> header = cells(line);
    std::vector<CsvRow> rows;
    while (std::getline(in, line)) {
        if (line.empty()) continue;
        const std::vector<std::string> row = cells(line);
        CsvRow named;
        for (std::size_t i = 0; i < header.size(); ++i)
            named[header[i]] = row.at(i);
        rows.push_back(named);
    }
    return rows;
}

std::vector<Pair> crossover_set(char name) {
    const auto file = std::string("crossover/slf2014_") + name + ".csv";
    std::vector<std::string> subjects;
    std::vector<Pair> pairs;
    for (const CsvRow& row : read_csv(reference_folder() / file)) {
        if (subjects.empty() || subjects.back() != row.at("subject")) {
            subjects.push_back(row.at("subject"));
            pairs.push_back({0, 0, row.at("sequence") == "RT" ? Order::ab : Order::ba});
        }
        (row.at("treatment") == "R" ? pairs.back().a : pairs.back().b) = std::stod(row.at("value"));
    }
    return pairs;
}

}  // namespace vsb::stats::testing
