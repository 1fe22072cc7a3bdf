#pragma once
// The output of vsock_perf (tools/testing/vsock/vsock_perf.c), sender and receiver, of today and of
// before MSG_ZEROCOPY ("total time in 'write()'"); also vsb-sender's and vsb-receiver's in its
// words.
//
// A run is the lines from "Run as sender" or "Run as receiver" on; one text may hold many runs, and
// a sender's and a receiver's lines may be mixed. Empty lines, and lines that start with "+ ", "$ "
// or "# " (a shell's echo), are passed over; every other line must be one of vsock_perf's.
//
// Workloads: tx/SIZE, tx-zerocopy/SIZE by the TX buffer, rx/SIZE by the RX buffer. The headline is
// throughput in Gbit/s over the sender's whole loop, or the receiver's time from accept(). Today's
// vsock_perf prints a sender's rate over its time inside send() alone, which can be compared with
// nothing else: then the rate is taken from the bytes and the loop's time, and a note says so.

#include <string>
#include <string_view>

#include "datasets/foreign_file.h"

namespace vsb::datasets {

// Throws ImportError: an unknown line, a line twice, a run cut off, a number that is not one, a
// rate that fits none of the times printed with it, fewer bytes than asked for or received than
// sent, a loop too short for its printed time to be divided by.
ForeignFile read_vsock_perf(std::string_view text, const std::string& name);

}  // namespace vsb::datasets
