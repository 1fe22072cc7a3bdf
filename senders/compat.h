#pragma once
// The program vsock_perf: what runs when vsb-sender is called by that name.

#include <span>
#include <string>

#include "transport/calls.h"

namespace vsb::senders {

// Prints to stdout as vsock_perf does, both rates by name to stderr; returns 0, or 1 after --help.
// Throws what the tools throw.
int run_compat(transport::Calls& calls, std::span<const std::string> args);

}  // namespace vsb::senders
