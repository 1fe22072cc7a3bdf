#include "engine/headline.h"

#include <stdexcept>
#include <string>

namespace vsb::engine {

Headline headline_of(std::string_view system) {
    if (system == "virtio-vsock-rx" || system == "vhost-vsock-used") {
        return {"throughput", "Gbit/s", 0};
    }
    if (system == "vhost-net-rx") return {"packet_rate", "Mpps", 0};
    if (system == "dgram-sendmsg") return {"throughput", "MB/s", 0};
    throw std::invalid_argument("engine system '" + std::string(system) +
                                "' has no headline: unknown (virtio-vsock-rx, vhost-vsock-used, "
                                "vhost-net-rx, dgram-sendmsg)");
}

Headline headline(std::string_view system, const Outcome& outcome) {
    Headline result = headline_of(system);
    if (!outcome.failure.empty()) {
        throw std::invalid_argument("no headline: the trial failed: " + outcome.failure);
    }
    if (outcome.first_to_last_ns == 0) {
        throw std::invalid_argument("no headline: the trial took no time");
    }
    const auto ns = static_cast<double>(outcome.first_to_last_ns);
    if (result.unit == "Gbit/s") {
        result.value = static_cast<double>(outcome.bytes_received) * 8 / ns;
    } else if (result.unit == "Mpps") {
        result.value = static_cast<double>(outcome.units) * 1000 / ns;
    } else {
        result.value = static_cast<double>(outcome.bytes_received) * 1000 / ns;
    }
    return result;
}

}  // namespace vsb::engine
