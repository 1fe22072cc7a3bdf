#pragma once
// What a guest's console says: is the kernel hurt? Reads whole lines as printk writes them, strips
// '\r', and caps what it keeps. The text is hostile: callers escape before a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace vsb::guest {

// Does this line (without its newline) report a fault of the kernel? Patterns count at the start of
// a message, behind an optional printk timestamp; mitigation notices, lockdep's and NMI chatter,
// self-tests and file system warnings do not.
bool is_fatal_line(std::string_view line);

// Collects a console as it arrives, in pieces of any size.
class Console {
  public:
    static constexpr std::size_t kMaxLine = 4096;     // the rest of a longer line is dropped
    static constexpr std::size_t kMaxKept = 1 << 20;  // bytes kept: the first and the last halves

    void feed(std::string_view bytes);
    // The last line, if no newline ended it.
    void finish();

    // The first line that reports a fault; empty while there is none.
    const std::string& fatal() const { return fatal_; }
    std::size_t bytes() const { return bytes_; }  // ever fed
    std::size_t lines() const { return lines_; }
    const std::string& last_line() const { return last_; }  // the last one that is not blank
    // What was kept, with a line that says how much is missing.
    std::string text() const;

  private:
    void line_done();
    std::string head_;
    std::string tail_;
    std::string line_;
    std::string fatal_;
    std::string last_;
    std::size_t bytes_ = 0;
    std::size_t lines_ = 0;
    std::size_t dropped_ = 0;
};

}  // namespace vsb::guest
