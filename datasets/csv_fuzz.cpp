// libFuzzer's entry to the CSV reader; built only with clang. Run: csv_fuzz -max_len=4096 CORPUS

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "datasets/csv_any_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string input(reinterpret_cast<const char*>(data), size);
    if (!vsb::datasets::broken_promise(input).empty()) std::abort();
    return 0;
}
