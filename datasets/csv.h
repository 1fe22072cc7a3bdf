#pragma once
// CSV in: header workload,pair,order,state,value with optional metric,unit (any column order);
// order AB|BA, state A|B; one row a run.

#include <istream>
#include <stdexcept>
#include <string>
#include <vector>

#include "datasets/paired_series.h"

namespace vsb::datasets {

// what() is "<name>:<line>: column <column>: <why>".
struct CsvError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

struct CsvOptions {
    bool skip_invalid = false;     // drop whole pairs with a bad row, count them in `skipped`
    bool lower_is_better = false;  // for metrics that do not say
};

// Series in order of first appearance; pairs in the order of the file. name is for messages.
// Errors (without skip_invalid): unpaired, duplicated, non-positive, non-finite or unparsable rows,
// an order that differs within a pair, missing or unknown columns, caps exceeded.
std::vector<PairedSeries> read_csv(std::istream& in, const std::string& name,
                                   const CsvOptions& options);

}  // namespace vsb::datasets
