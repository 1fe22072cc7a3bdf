#include "harness/guest/backend.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace vsb::guest {
namespace {

// Numbers of the vhost-user specification.
enum Request : std::uint32_t {
    kGetFeatures = 1,
    kSetFeatures = 2,
    kSetOwner = 3,
    kResetOwner = 4,
    kSetMemTable = 5,
    kSetVringNum = 8,
    kSetVringAddr = 9,
    kSetVringBase = 10,
    kGetVringBase = 11,
    kSetVringKick = 12,
    kSetVringCall = 13,
    kSetVringErr = 14,
    kGetProtocolFeatures = 15,
    kSetProtocolFeatures = 16,
    kGetQueueNum = 17,
    kSetVringEnable = 18,
    kSetSlaveReqFd = 21,
    kGetConfig = 24,
    kSetConfig = 25,
};

constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kVersionMask = 3;
constexpr std::uint32_t kReply = 4;
constexpr std::uint32_t kNeedReply = 8;
constexpr std::uint64_t kReplyAck = std::uint64_t{1} << 3;
constexpr std::uint64_t kEventIdx = std::uint64_t{1} << 29;
constexpr std::uint64_t kProtocolFeatures = std::uint64_t{1} << 30;
constexpr std::uint64_t kNoFd = 0x100;
constexpr std::size_t kConfigHeader = 12;
constexpr std::size_t kConfigSize = 8;  // struct virtio_vsock_config: the guest's CID

template <typename T>
T get(std::span<const std::byte> bytes, std::size_t at) {
    T value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof(T));  // callers checked the size
    return value;
}

template <typename T>
void put(std::vector<std::byte>& bytes, T value) {
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof(T));
}

std::vector<std::byte> message(std::uint32_t request, std::span<const std::byte> payload) {
    std::vector<std::byte> bytes;
    put(bytes, request);
    put(bytes, kVersion | kReply);
    put(bytes, static_cast<std::uint32_t>(payload.size()));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
}

std::vector<std::byte> number_reply(std::uint32_t request, std::uint64_t value) {
    std::vector<std::byte> payload;
    put(payload, value);
    return message(request, payload);
}

std::string named(std::uint32_t request, const std::string& what) {
    return "vhost-user request " + std::to_string(request) + ": " + what;
}

// eventfds, pipes and sockets; not a file that 8 bytes a kick would fill.
bool is_notifier(int fd) {
    struct stat status {};
    if (fstat(fd, &status) != 0) return false;
    const mode_t type = status.st_mode & S_IFMT;
    return type == 0 || type == S_IFIFO || type == S_IFSOCK;
}

std::optional<std::size_t> expected_payload(std::uint32_t request) {
    switch (request) {
        case kGetFeatures:
        case kSetOwner:
        case kResetOwner:
        case kGetProtocolFeatures:
        case kGetQueueNum:
        case kSetSlaveReqFd:
            return 0;
        case kSetFeatures:
        case kSetProtocolFeatures:
        case kSetVringNum:
        case kSetVringBase:
        case kGetVringBase:
        case kSetVringEnable:
        case kSetVringKick:
        case kSetVringCall:
        case kSetVringErr:
            return 8;
        case kSetVringAddr:
            return 40;
        default:
            return std::nullopt;
    }
}

}  // namespace

bool read_vhost_header(std::span<const std::byte, kVhostHeaderBytes> bytes, std::uint32_t& request,
                       std::uint32_t& flags, std::uint32_t& size) {
    request = get<std::uint32_t>(bytes, 0);
    flags = get<std::uint32_t>(bytes, 4);
    size = get<std::uint32_t>(bytes, 8);
    return (flags & kVersionMask) == kVersion && (flags & kReply) == 0 && size <= kVhostMaxPayload;
}

VhostBackend::Answer VhostBackend::handle(VhostMessage message_in) {
    Answer answer;
    const auto expected = expected_payload(message_in.request);
    if (expected && message_in.payload.size() != *expected) {
        answer.error =
            named(message_in.request,
                  "a payload of " + std::to_string(message_in.payload.size()) + " bytes");
        return answer;
    }
    answer.error = dispatch(message_in, answer.reply);
    const bool wants_reply =
        (message_in.flags & kNeedReply) != 0 && (protocol_features_ & kReplyAck) != 0;
    if (wants_reply && answer.reply.empty()) {
        answer.reply = number_reply(message_in.request, answer.error.empty() ? 0 : 1);
    }
    return answer;
}

std::string VhostBackend::dispatch(VhostMessage& in, std::vector<std::byte>& reply) {
    const Payload payload = in.payload;
    switch (in.request) {
        case kGetFeatures:
            reply = number_reply(in.request, kOfferedFeatures);
            return {};
        case kSetFeatures:
            features_ = get<std::uint64_t>(payload, 0);
            if ((features_ & ~kOfferedFeatures) != 0) {
                return named(in.request, "features that were not offered");
            }
            for (Ring& ring : rings_) {
                if (std::string error = update(ring); !error.empty()) return error;
            }
            return {};
        case kSetOwner:
        case kResetOwner:
            return {};
        case kSetMemTable:
            return set_memory(in);
        case kSetVringNum:
        case kSetVringAddr:
        case kSetVringBase:
        case kSetVringEnable:
            return set_ring(in.request, payload);
        case kGetVringBase: {
            const auto index = get<std::uint32_t>(payload, 0);
            if (index >= kQueues) return named(in.request, "no such ring");
            Ring& ring = rings_[index];
            if (ring.queue.running()) ring.base = ring.queue.next_index();
            ring.queue.stop();
            ring.kick.reset();  // stopped until the next kick descriptor
            std::vector<std::byte> state;
            put(state, index);
            put(state, std::uint32_t{ring.base});
            reply = message(in.request, state);
            return {};
        }
        case kSetVringKick:
        case kSetVringCall:
        case kSetVringErr:
            return set_ring_fd(in);
        case kGetProtocolFeatures:
            reply = number_reply(in.request, kOfferedProtocol);
            return {};
        case kSetProtocolFeatures:
            protocol_features_ = get<std::uint64_t>(payload, 0);
            if ((protocol_features_ & ~kOfferedProtocol) != 0) {
                return named(in.request, "protocol features that were not offered");
            }
            return {};
        case kGetQueueNum:
            reply = number_reply(in.request, kQueues);
            return {};
        case kSetSlaveReqFd:
            if (in.fds.size() != 1) return named(in.request, "no descriptor");
            requests_ = std::move(in.fds[0]);
            return {};
        case kGetConfig:
            return get_config(payload, reply);
        case kSetConfig:
            return named(in.request, "the configuration is not writable");
        default:
            return named(in.request, "not supported");
    }
}

std::string VhostBackend::set_memory(VhostMessage& in) {
    const Payload payload = in.payload;
    if (payload.size() < 8) return named(in.request, "too short");
    const auto count = get<std::uint32_t>(payload, 0);
    if (count == 0 || count > GuestMemory::kMaxRegions || payload.size() < 8 + 32 * count ||
        in.fds.size() != count) {
        return named(in.request, "regions and descriptors do not match");
    }
    // (Longer is well: Linux 6.1 always sends room for two regions.)
    GuestMemory memory;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::size_t at = 8 + 32 * std::size_t{i};
        const MemoryRegion region{
            get<std::uint64_t>(payload, at), get<std::uint64_t>(payload, at + 8),
            get<std::uint64_t>(payload, at + 16), get<std::uint64_t>(payload, at + 24)};
        if (std::string error = memory.add(region, in.fds[i]); !error.empty()) {
            return named(in.request, error);
        }
    }
    // The rings lie in the old mapping until update() has looked them up in the new one.
    for (Ring& ring : rings_) {
        if (ring.queue.running()) ring.base = ring.queue.next_index();
        ring.queue.stop();
    }
    memory_ = std::move(memory);
    for (Ring& ring : rings_) {
        if (std::string error = update(ring); !error.empty()) return error;
    }
    return {};
}

std::string VhostBackend::set_ring(std::uint32_t request, Payload payload) {
    const auto index = get<std::uint32_t>(payload, 0);
    const auto value = get<std::uint32_t>(payload, 4);
    if (index >= kQueues) return named(request, "no such ring");
    Ring& ring = rings_[index];
    if (ring.queue.running() && request != kSetVringEnable) {
        return named(request, "the ring is running");
    }
    switch (request) {
        case kSetVringNum:
            if (value == 0 || value > GuestQueue::kMaxSize || (value & (value - 1)) != 0) {
                return named(request, "a ring of " + std::to_string(value) + " entries");
            }
            ring.size = static_cast<std::uint16_t>(value);
            break;
        case kSetVringBase:
            if (value > 0xffff) return named(request, "an index beyond 16 bits");
            ring.base = static_cast<std::uint16_t>(value);
            break;
        case kSetVringEnable:
            ring.enabled = value != 0;
            break;
        default:
            ring.addresses = {get<std::uint64_t>(payload, 8), get<std::uint64_t>(payload, 24),
                              get<std::uint64_t>(payload, 16)};
            ring.has_addresses = true;
    }
    return update(ring);
}

std::string VhostBackend::set_ring_fd(VhostMessage& in) {
    const auto value = get<std::uint64_t>(in.payload, 0);
    const std::uint64_t index = value & 0xff;
    if (index >= kQueues) return named(in.request, "no such ring");
    Fd fd;
    if ((value & kNoFd) == 0) {
        if (in.fds.size() != 1) return named(in.request, "no descriptor");
        fd = std::move(in.fds[0]);
        if (!is_notifier(fd.get())) return named(in.request, "a descriptor of a wrong kind");
        const int flags = fcntl(fd.get(), F_GETFL);
        fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK);
    }
    Ring& ring = rings_[index];
    if (in.request == kSetVringKick) ring.kick = std::move(fd);
    if (in.request == kSetVringCall) ring.call = std::move(fd);
    return update(ring);
}

// Starts or stops a ring as what is known of it now allows.
std::string VhostBackend::update(Ring& ring) {
    // Without the protocol features a ring is enabled from its kick descriptor on.
    const bool enabled = ring.enabled || (features_ & kProtocolFeatures) == 0;
    const bool wanted =
        enabled && ring.kick && ring.has_addresses && ring.size != 0 && !memory_.empty();
    if (!wanted) {
        if (ring.queue.running()) ring.base = ring.queue.next_index();
        ring.queue.stop();
        return {};
    }
    if (ring.queue.running() || ring.queue.broken()) return {};
    if (!ring.queue.start(memory_, ring.addresses, ring.size, ring.base,
                          (features_ & kEventIdx) != 0)) {
        return "a ring lies outside the guest's memory or is not aligned";
    }
    return {};
}

std::string VhostBackend::get_config(Payload payload, std::vector<std::byte>& reply) {
    if (payload.size() < kConfigHeader) return named(kGetConfig, "too short");
    const auto offset = get<std::uint32_t>(payload, 0);
    const auto size = get<std::uint32_t>(payload, 4);
    if (payload.size() != kConfigHeader + std::uint64_t{size} || offset > kConfigSize ||
        size > kConfigSize - offset) {
        return named(kGetConfig, "outside the configuration");
    }
    std::vector<std::byte> config;
    put(config, cid_);
    std::vector<std::byte> answer(payload.begin(), payload.begin() + kConfigHeader);
    answer.insert(answer.end(), config.begin() + offset, config.begin() + offset + size);
    reply = message(kGetConfig, answer);
    return {};
}

void VhostBackend::clear_kick(std::size_t index) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t n = read(rings_.at(index).kick.get(), &count, sizeof(count));
}

void VhostBackend::call(std::size_t index) {
    const std::uint64_t one = 1;
    // EAGAIN: the pipe is full of interrupts that the guest has not taken. EPIPE: it is gone; the
    // caller's thread has SIGPIPE blocked.
    [[maybe_unused]] const ssize_t n = write(rings_.at(index).call.get(), &one, sizeof(one));
}

bool VhostBackend::ready() const {
    return rings_[kRxQueue].queue.running() && rings_[kTxQueue].queue.running();
}

}  // namespace vsb::guest
