#pragma once
// What must hold of the CSV reader for any bytes whatever: shared by the fuzzer of all readers
// (harness/cli/import_fuzz.cpp) and by the test that mutates without one.

#include <string>

namespace vsb::datasets {

// Reads input both ways. Empty when all that must hold holds; otherwise what does not: read_csv
// throws nothing but CsvError, every value it gives is finite and above zero, every pair number
// occurs once in a series, a file read without skip_invalid reads the same with it, and what was
// read comes back from to_csv.
std::string broken_promise(const std::string& input);

}  // namespace vsb::datasets
