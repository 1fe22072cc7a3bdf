#pragma once
// Files that other programs wrote: found out, read, or refused.

#include <filesystem>
#include <string>

#include "datasets/foreign_file.h"
#include "datasets/foreign_format.h"

namespace vsb::cli {

struct ForeignText {
    std::string name;  // as given; "stdin" for -
    std::string text;
    datasets::ForeignFormat format = datasets::ForeignFormat::csv;
};

// "-" is stdin. from: a format's name, or empty to look. Throws Failure (2): it cannot be read, is
// larger than 64 MiB, or what it is cannot be told.
ForeignText read_foreign_text(const std::string& file, const std::string& from);

// By its format, which is not csv. Throws datasets::ImportError.
datasets::ForeignFile read_foreign(const ForeignText& text);

}  // namespace vsb::cli
