#pragma once
// Result tables of published patch series: datasets/published/*.csv, embedded when the program is
// built. Figures are kept as printed, every sign and digit of them, with the captions and headings
// they stood under; datasets/published/README.md documents the files.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::datasets {

struct PublishedFile {
    std::string_view name;  // the file's stem: "vsock-rx-batching-v5"
    std::string_view csv;
};

// By name.
std::span<const PublishedFile> published_files();
const PublishedFile* find_published(std::string_view name);

// How a row stands in its table, a line each: cells parted by '|', figures as {column}. Every
// column named has a figure in its row.
using PublishedLayout = std::vector<std::string>;

struct PublishedFigures {
    PublishedLayout layout;
    std::map<std::string, std::string> figures;  // by column, as printed; label among them
};

struct PublishedTable {
    std::vector<std::string> section;   // lines printed before the caption, outermost first
    std::vector<std::string> caption;   // lines
    std::vector<std::string> headings;  // lines, cells parted by '|'
    std::optional<std::size_t> pairs;   // behind each row, where the mail says it
    std::vector<PublishedFigures> rows;
};

struct PublishedSeries {
    std::string name;
    std::string series;  // its subject line
    std::string posted;  // YYYY-MM-DD
    std::vector<PublishedTable> tables;
};

// Throws std::invalid_argument "<name>:<line>: <why>" for what does not keep to the schema.
PublishedSeries parse_published(std::string_view name, std::string_view csv);

}  // namespace vsb::datasets
