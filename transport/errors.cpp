#include "transport/errors.h"

#include <system_error>

namespace vsb::transport {

void throw_errno(int error, std::string_view operation, std::string_view peer) {
    std::string text(operation);
    if (!peer.empty()) text.append(" ").append(peer);
    throw std::system_error(error, std::generic_category(), text);
}

int exit_code_of(const std::exception& error) {
    if (dynamic_cast<const UsageError*>(&error) != nullptr) return 2;
    if (dynamic_cast<const Unavailable*>(&error) != nullptr) return 4;
    return 3;
}

}  // namespace vsb::transport
