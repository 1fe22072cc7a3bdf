#pragma once
// What must hold of the device whatever a guest does: shared by the fuzzer and by the test that
// draws without one.

#include <string>

namespace vsb::guest {

// Reads the input as a program of what a machine and its guest do to the device (vhost-user
// messages, rings and memory written, packets sent, a job begun) and plays it. Empty when all that
// must hold holds; otherwise what does not: the device ends each of its turns, touches no byte
// outside the guest's memory, and calls no transfer done that did not send everything.
std::string broken_device_promise(const std::string& input);

}  // namespace vsb::guest
