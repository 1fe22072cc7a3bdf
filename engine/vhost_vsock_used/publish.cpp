#include "engine/vhost_vsock_used/publish.h"

namespace vsb::engine::vhost_vsock_used {

std::string_view name(Flush reason) noexcept {
    constexpr std::array<std::string_view, kFlushes> names{
        "full", "queue_empty", "no_buffers", "look_again", "error", "leave"};
    return names[static_cast<std::size_t>(reason)];
}

}  // namespace vsb::engine::vhost_vsock_used
