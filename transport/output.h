#pragma once
// Writing what a tool has to say: all of it, or an error.

#include <cstdint>
#include <string_view>

namespace vsb::transport {

enum class Format : std::uint8_t { lines, json, vsock_perf };

// Throws std::system_error (a closed pipe, a full disk). SIGPIPE must be ignored.
void write_all(int fd, std::string_view text);

}  // namespace vsb::transport
