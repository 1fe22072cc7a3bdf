#include "datasets/foreign_file.h"

namespace vsb::datasets {

std::string payload_name(std::int64_t bytes) {
    const char* suffix = "B";
    for (const char* next : {"K", "M", "G"}) {
        if (bytes < 1024 || bytes % 1024 != 0) break;
        bytes /= 1024;
        suffix = next;
    }
    return std::to_string(bytes) + suffix;
}

}  // namespace vsb::datasets
