#pragma once
// What is wrong with a file that somebody else wrote, and where.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace vsb::datasets {

// what() is "<name>:<line>: column <column>: <why>" for text, "<name>: <path>: <why>" for JSON that
// is well formed (path as $.end.sum_sent), "<name>: <why>" for the file as a whole.
struct ImportError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// column is a number from 1 or a name.
[[noreturn]] void fail_at(const std::string& name, std::uint64_t line, std::string_view column,
                          const std::string& why);

// Text from such a file inside a message: in quotes, shortened, nothing but printable ASCII.
std::string in_quotes(std::string_view text);

}  // namespace vsb::datasets
