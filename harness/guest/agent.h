#pragma once
// What is said on the agent's channel between the harness and PID 1 of a guest: transport's control
// lines (`VERB key=value ...`), with texts encoded so that they hold no blank.
//
//   guest -> host   HELLO version=1 release=... cpus=N     once, when it is ready
//                   STARTED id=N
//                   LINE id=N text=...                     of the program's output, at its end
//                   FILE id=N text=...                     of the file that was asked for
//                   END id=N status=N signal=N key=value...  counters of the guest over its run
//                   WARN text=...                          a module or a setting that did not work
//   host -> guest   SET name=net.core.rmem_max value=...   a sysctl
//                   PIN cpu=N                              the virtio-vsock interrupts
//                   START id=N [file=PATH] a0=... a1=...   a program, at most kMaxArguments
//                   KILL id=N
//                   WAIT id=N                              in /orders: until the program ended
//                   SPIN ns=N                              is busy for so long
//                   STOP status=N                          power off
//                   MISBEHAVE how=...                      for tests of the harness
//
// A guest whose initramfs holds /orders takes these lines, up to STOP, and reads no channel: under
// the exact clock, what the host says when it pleases would move the guest's time.
#include <cstddef>
#include <string>
#include <string_view>

namespace vsb::guest {

inline constexpr std::size_t kMaxAgentLine = 16384;
inline constexpr std::size_t kMaxArguments = 64;

// '%', blanks, control characters and bytes above 0x7e as %XX. An empty text is "%".
std::string encode_text(std::string_view text);
// Throws std::invalid_argument for a '%' that no two hex digits follow.
std::string decode_text(std::string_view text);

// Cuts a stream into lines. A line over kMaxAgentLine is an error for good.
class LineBuffer {
  public:
    // False: a line was too long.
    bool feed(std::string_view bytes);
    // The oldest whole line, without its newline and '\r'; false: none.
    bool next(std::string& line);

  private:
    std::string buffer_;
};

}  // namespace vsb::guest
