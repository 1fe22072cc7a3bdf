// libFuzzer's entry to the audit; built only with clang. Run: audit_fuzz -max_len=4096 CORPUS

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "reports/audit_any_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string input(reinterpret_cast<const char*>(data), size);
    if (!vsb::reports::broken_promise(input).empty()) std::abort();
    return 0;
}
