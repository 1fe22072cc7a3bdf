#pragma once
// A plot as values: a gnuplot script of ours and the data it reads.

#include <functional>
#include <string>
#include <vector>

namespace vsb::reports {

// Figures and labels, tab separated. The script names it as a file in the current directory.
struct PlotData {
    std::string file;  // "changes.tsv": letters, digits, dot
    std::string text;
};

// script: fixed text and numbers only. Labels travel in the data, since gnuplot runs what stands
// between backquotes in a script.
struct Plot {
    std::string script;
    std::vector<PlotData> data;
};

struct Drawing {
    std::string svg;    // empty when there is none
    std::string error;  // why, then
};

using Plotter = std::function<Drawing(const Plot&)>;

}  // namespace vsb::reports
