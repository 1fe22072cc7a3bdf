#pragma once
// What must hold of every reader of foreign files for any bytes whatever: shared by the fuzzer and
// by the test that mutates without one.

#include <string>

namespace vsb::cli {

struct AnyInput {
    std::string broken;    // what does not hold; empty when all does
    std::size_t read = 0;  // readers that took it
};

// Gives input to the format detection and to every reader. Each must throw nothing but ImportError
// that names the file and a place in it, or give runs whose values are finite, not negative, the
// headline above zero, no metric twice, names that are text; and what it gives must be storable as
// pairs. For CSV: datasets::broken_promise.
AnyInput try_any_input(const std::string& input);

}  // namespace vsb::cli
