#pragma once
// One line of CSV, split; and the cap-minding reader of lines.

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/csv.h"

namespace vsb::datasets {

struct CsvLine {
    std::vector<std::string> fields;
    std::size_t bad_field = 0;  // index of the field that `why` is about
    std::string why;            // empty: the line is well formed
};

// Well-formed fields up to the first bad one. The line is without its end.
CsvLine split_csv_line(std::string_view line, std::size_t field_cap);

// nullopt: text may stand in a name. Otherwise why not: control characters, no UTF-8.
std::optional<std::string> text_fault(std::string_view text);

class CsvLines {
  public:
    CsvLines(std::istream& in, std::string name, const CsvCaps& caps);
    // The next line without LF or CRLF; false at the end. Throws CsvError past a cap, or when the
    // stream fails.
    bool next(std::string& line);
    std::uint64_t number() const { return number_; }  // of the line last given, from 1

  private:
    bool fill();
    [[noreturn]] void fail(const std::string& why) const;

    std::istream* in_;
    std::string name_;
    CsvCaps caps_;
    std::string buffer_;
    std::size_t at_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t number_ = 0;
};

}  // namespace vsb::datasets
