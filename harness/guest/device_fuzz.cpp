// libFuzzer's entry to the device; built only with clang. Run: device_fuzz -max_len=4096 CORPUS

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "harness/guest/device_any_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string input(reinterpret_cast<const char*>(data), size);
    if (!vsb::guest::broken_device_promise(input).empty()) std::abort();
    return 0;
}
