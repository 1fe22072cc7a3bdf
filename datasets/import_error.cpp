#include "datasets/import_error.h"

namespace vsb::datasets {

void fail_at(const std::string& name, std::uint64_t line, std::string_view column,
             const std::string& why) {
    throw ImportError(name + ":" + std::to_string(line) + ": column " + std::string(column) + ": " +
                      why);
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t kShown = 40;
    std::string shown = "'";
    for (const char c : text.substr(0, kShown)) {
        const bool plain = c >= 0x20 && c < 0x7f;
        shown += plain ? c : '?';
    }
    return shown + (text.size() > kShown ? "...'" : "'");
}

}  // namespace vsb::datasets
