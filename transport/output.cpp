#include "transport/output.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "transport/errors.h"

namespace vsb::transport {

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(fd, text.data(), text.size());
        if (n > 0) {
            text.remove_prefix(static_cast<std::size_t>(n));
        } else if (n == 0 || errno != EINTR) {
            throw_errno(n == 0 ? EIO : errno, "writing to descriptor", std::to_string(fd));
        }
    }
}

}  // namespace vsb::transport
