#pragma once
// A whole comparison: every workload and metric of an experiment or a file, and what a report
// needs around it. Built by compare(), rendered by the writers beside this file.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/paired_series.h"
#include "datasets/records.h"
#include "stats/comparison.h"

namespace vsb::reports {

struct Row {
    std::string workload;
    std::string metric;
    std::string unit;
    bool headline = false;  // the first metric of its workload
    stats::Comparison result;
    std::optional<double> p_adjusted;  // for the whole table, by Comparison::adjust; else absent
    // Of the change, holding for all headline rows at once; absent unless asked for.
    std::optional<stats::Interval> simultaneous;
    std::optional<stats::Comparison> beside = {};  // a second method's, where one was asked for
};

// In how many headline rows B is better on average, and how likely that many or few would be had
// it made no difference: the pairs' signs are flipped over all rows together.
struct TableSign {
    std::size_t k = 0;
    std::size_t n = 0;  // rows with a change other than 0
    double p = 1;
};

// A metric with a zero or negative value: two means, no change.
struct MeansOnly {
    std::string workload;
    std::string metric;
    std::string unit;
    double a = 0;  // arithmetic means
    double b = 0;
};

struct Comparison {
    std::string experiment;                             // its name, or the file's
    stats::Method method = stats::Method::crossover_t;  // the one asked for
    double confidence = 0.95;
    std::optional<double> margin;
    std::string adjust = "none";  // of p-values over the headline rows: none | holm | bh | maxt
    std::optional<TableSign> table_sign;  // with two or more headline rows
    std::vector<Row> rows;
    std::vector<MeansOnly> means;
    std::vector<stats::Warning> warnings;              // of the comparison as a whole
    bool interim = false;                              // the run is under way: no p-values
    std::optional<datasets::ExperimentRecord> record;  // absent for a CSV
};

struct CompareOptions {
    stats::Method method = stats::Method::crossover_t;
    double confidence = 0.95;
    std::optional<double> margin;
    std::string adjust = "none";  // as Comparison::adjust; anything else is std::invalid_argument
    bool simultaneous = false;    // intervals by maxT beside the rows' own
    std::optional<stats::Method> beside;  // of the headline rows as well
};

// Series with fewer than two whole pairs become a warning of the comparison, not a row.
Comparison compare(std::string experiment, std::span<const datasets::PairedSeries> series,
                   const CompareOptions& options);

// Gives the comparison the record of the experiment it came from: its environment and states for
// the report, interim while it is running, a warning when it did not finish or when fewer pairs
// were recorded than planned.
void attach(Comparison& comparison, datasets::ExperimentRecord record);

}  // namespace vsb::reports
