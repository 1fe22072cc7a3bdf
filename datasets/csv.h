#pragma once
// Pairs as CSV. Header workload,pair,order,state,value with optional metric,unit, in any column
// order; order AB|BA, state A|B; one row a run.
//
// RFC 4180 with LF or CRLF ends, UTF-8 with or without its mark, empty lines passed over. A field
// ends on its line. Text that starts with = + - or @ carries a ' before it in a file (a spreadsheet
// would run it); reading takes that one off again.

#include <cstddef>
#include <cstdint>
#include <istream>
#include <span>
#include <string>
#include <vector>

#include "datasets/import_error.h"
#include "datasets/paired_series.h"

namespace vsb::datasets {

// what() is "<name>:<line>: column <column>: <why>".
struct CsvError : ImportError {
    using ImportError::ImportError;
};

// Past these a file is refused, whatever skip_invalid says.
struct CsvCaps {
    std::uint64_t bytes = std::uint64_t{256} << 20U;
    std::uint64_t lines = 5'000'000;
    std::size_t line_bytes = 65536;
    std::size_t field_bytes = 4096;
};

struct CsvOptions {
    bool skip_invalid = false;     // drop whole pairs with a bad row, count them in `skipped`
    bool lower_is_better = false;  // for metrics that do not say
    CsvCaps caps = {};
};

// Series in order of first appearance; pairs in the order of the file. name is for messages.
// Errors (without skip_invalid): unpaired, duplicated, non-positive, non-finite or unparsable rows,
// an order that differs within a pair, missing or unknown columns, caps exceeded. With
// skip_invalid the last two remain errors; a row so broken that it names no pair is dropped, and
// its partner with it as unpaired.
std::vector<PairedSeries> read_csv(std::istream& in, const std::string& name,
                                   const CsvOptions& options);

// The same form, all seven columns, each pair's runs in the order they were made; read_csv gives
// the pairs back bit for bit. Throws std::invalid_argument for a value that is not finite or text
// that is no UTF-8 or holds control characters. Values at or below zero are written, and refused
// by read_csv: they make no ratio.
std::string to_csv(std::span<const PairedSeries> series);

}  // namespace vsb::datasets
