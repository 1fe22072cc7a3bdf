#pragma once
// The kinds of failure a tool tells apart; each has its exit code (tool_exit_code()).

#include <stdexcept>
#include <string>
#include <string_view>

namespace vsb::transport {

// A value the user gave is wrong; the text starts with the option's name. Exit 2.
struct UsageError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// The trial ran and is not to be believed (a peer left, bytes are missing, a deadline). Exit 3.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// This machine lacks what was asked for (vsock loopback, io_uring). Exit 4.
struct Unavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// std::system_error of `error`, "OPERATION PEER: TEXT OF ERRNO".
[[noreturn]] void throw_errno(int error, std::string_view operation, std::string_view peer = {});

// 2 usage, 4 unavailable, 3 everything else.
int exit_code_of(const std::exception& error);

}  // namespace vsb::transport
