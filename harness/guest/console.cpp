#include "harness/guest/console.h"

#include <algorithm>
#include <array>

namespace vsb::guest {
namespace {

using std::string_view;

bool contains(string_view text, string_view part) {
    return text.find(part) != string_view::npos;
}

// "[    1.234567] " and "[    1.234567][    T1] ", as printk writes them.
string_view without_timestamp(string_view line) {
    for (int groups = 0; groups < 2 && !line.empty() && line.front() == '['; ++groups) {
        const std::size_t end = line.find(']');
        if (end == string_view::npos || end > 24) return line;
        const string_view inside = line.substr(1, end - 1);
        const auto printk = [](char c) {
            return c == ' ' || c == '.' || c == 'T' || c == 'C' || (c >= '0' && c <= '9');
        };
        if (inside.empty() || !std::ranges::all_of(inside, printk)) return line;
        line.remove_prefix(end + 1);
        if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    }
    return line;
}

// "<4>[ 1.0] ...": a level in front, where the console shows it.
string_view without_level(string_view line) {
    if (line.size() > 3 && line[0] == '<' && line[2] == '>') line.remove_prefix(3);
    return line;
}

// Words a message starts with; ktest's and syzkaller's lists agree on these.
constexpr std::array<string_view, 15> kFatalStarts{
    "BUG:",          "kernel BUG",      "WARNING:",      "Unable to handle kernel",
    "Oops:",         "Kernel panic",    "UBSAN:",        "PANIC: double fault",
    "divide error:", "invalid opcode:", "refcount_t:",   "general protection fault",
    "KASAN:",        "KMSAN:",          "stack segment:"};

constexpr std::array<string_view, 6> kHarmless{
    "WARNING: See https", "Unprivileged eBPF is enabled", "Spectre",
    "MDS CPU bug",        "lockdep is turned off",        "took too long"};

bool harmless(string_view message) {
    if (std::ranges::any_of(kHarmless, [&](string_view one) { return contains(message, one); })) {
        return true;
    }
    if (message.starts_with("INFO: NMI handler")) return true;
    const bool self_test = contains(message, "kasan_test") || contains(message, "kfence_test") ||
                           contains(message, "test_kasan") || contains(message, "KUNIT");
    return self_test || message.starts_with("EXT4-fs warning");
}

}  // namespace

bool is_fatal_line(string_view line) {
    while (!line.empty() && line.back() == '\r')
        line.remove_suffix(1);
    const string_view message = without_timestamp(without_level(line));
    if (harmless(message)) return false;
    for (const string_view start : kFatalStarts) {
        if (message.starts_with(start)) return true;
    }
    // "traps: name[pid] general protection fault" is a program's; the kernel's own starts with it.
    if (message.starts_with("INFO: rcu") && contains(message, "stall")) return true;
    if (message.starts_with("rcu: INFO: rcu") && contains(message, "stall")) return true;
    if (message.starts_with("INFO: task ") && contains(message, "blocked for more than")) {
        return true;
    }
    if (contains(message, ": page allocation failure")) return true;
    if (message.starts_with("page allocation failure")) return true;
    // x86: "watchdog: BUG: soft lockup", "watchdog: Watchdog detected hard LOCKUP".
    return message.starts_with("watchdog: BUG:") ||
           message.starts_with("watchdog: Watchdog detected hard LOCKUP");
}

void Console::feed(string_view bytes) {
    bytes_ += bytes.size();
    const std::size_t into_head = std::min(kMaxKept / 2 - head_.size(), bytes.size());
    head_.append(bytes.substr(0, into_head));
    tail_.append(bytes.substr(into_head));
    if (tail_.size() > kMaxKept) {  // halved seldom, so that feeding stays linear
        const std::size_t excess = tail_.size() - kMaxKept / 2;
        tail_.erase(0, excess);
        dropped_ += excess;
    }
    while (!bytes.empty()) {
        const std::size_t end = std::min(bytes.find('\n'), bytes.size());
        line_.append(bytes.substr(0, std::min(end, kMaxLine - std::min(kMaxLine, line_.size()))));
        if (end == bytes.size()) return;
        line_done();
        bytes.remove_prefix(end + 1);
    }
}

void Console::finish() {
    if (!line_.empty()) line_done();
}

void Console::line_done() {
    ++lines_;
    while (!line_.empty() && (line_.back() == '\r' || line_.back() == ' '))
        line_.pop_back();
    if (fatal_.empty() && is_fatal_line(line_)) fatal_ = line_;
    if (!line_.empty()) last_ = line_;
    line_.clear();
}

std::string Console::text() const {
    if (dropped_ == 0) return head_ + tail_;
    return head_ + "\n[... " + std::to_string(dropped_) + " bytes not kept ...]\n" + tail_;
}

}  // namespace vsb::guest
