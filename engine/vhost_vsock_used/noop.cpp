#include "engine/vhost_vsock_used/publish.h"

namespace vsb::engine::vhost_vsock_used {

// The fewest publications there can be is what batching does with a whole ring as its limit; what
// makes it the floor is that neither side notifies the other (WorkerSetup::notifies).
std::unique_ptr<Publish> make_noop(DeviceQueue& queue, std::size_t ring) {
    return make_batched(queue, ring);
}

}  // namespace vsb::engine::vhost_vsock_used
