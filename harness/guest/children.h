#pragma once
// The harness's children and descriptors (harness/process.h), by their plain names in this
// namespace.

#include "harness/process.h"

namespace vsb::guest {

using harness::Child;
using harness::CommandResult;
using harness::describe;
using harness::ExitStatus;
using harness::Fd;
using harness::make_pipe;
using harness::make_socket_pair;
using harness::monotonic_ns;
using harness::PrivateFolder;
using harness::run_command;
using harness::SpawnPlan;

}  // namespace vsb::guest
