#include "transport/survive.h"

#include <cerrno>

#include "transport/errors.h"

namespace vsb::transport {

void survive(Calls& calls, int fd, int error, short events, const char* operation,
             const std::string& peer) {
    if (error == EINTR) return;
    if (error != EAGAIN) throw_errno(error, operation, peer);
    pollfd waiting{fd, events, 0};
    if (calls.poll(&waiting, 1, 50) < 0 && errno != EINTR) throw_errno(errno, "waiting for", peer);
}

}  // namespace vsb::transport
