// libFuzzer's entry to every reader of foreign files; built only with clang (CONTRIBUTING.md).

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "harness/cli/foreign_any_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string input(reinterpret_cast<const char*>(data), size);
    const vsb::cli::AnyInput tried = vsb::cli::try_any_input(input);
    if (!tried.broken.empty()) {
        std::fprintf(stderr, "%s\n", tried.broken.c_str());
        std::abort();
    }
    return 0;
}
