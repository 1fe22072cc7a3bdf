#include "harness/guest/console.h"

#include <gtest/gtest.h>

#include <string>

namespace vsb::guest {
namespace {

TEST(Console, KnowsAKernelInTrouble) {
    for (const char* line :
         {"BUG: kernel NULL pointer dereference, address: 0000000000000008",
          "[    1.234567] BUG: scheduling while atomic: swapper/0/1/0x00000002",
          "[    1.234567][    T1] kernel BUG at net/vmw_vsock/af_vsock.c:123!",
          "[   12.000001] WARNING: CPU: 1 PID: 33 at net/core/skbuff.c:1 skb_release+0x1/0x2\r",
          "WARNING: possible circular locking dependency detected",
          "Unable to handle kernel paging request at virtual address dead000000000100",
          "general protection fault, probably for non-canonical address 0xdead000000000100",
          "Oops: 0000 [#1] PREEMPT SMP",
          "Kernel panic - not syncing: Attempted to kill init!",
          "PANIC: double fault, error_code: 0x0",
          "divide error: 0000 [#1]",
          "invalid opcode: 0000 [#1] SMP",
          "UBSAN: array-index-out-of-bounds in x.c:1:2",
          "[    3.000000] KASAN: null-ptr-deref in range [0x0-0x7]",
          "KMSAN: uninit-value in x",
          "refcount_t: underflow; use-after-free.",
          "INFO: rcu_sched detected stalls on CPUs/tasks:",
          "[   21.1] rcu: INFO: rcu_preempt self-detected stall on CPU",
          "INFO: task kworker/1:1:33 blocked for more than 120 seconds.",
          "vsb-receiver: page allocation failure: order:4, mode:0x40cc0",
          "watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [kworker/0:1:12]",
          "<4>[    1.234567] Oops: general protection fault, 0000"}) {
        EXPECT_TRUE(is_fatal_line(line)) << line;
    }
}

TEST(Console, KnowsChatter) {
    for (const char* line :
         {"", "DEBUG: something", "[    0.1] DEBUG_LOCKS_WARN_ON follows",
          "INFO: lockdep is turned off.", "INFO: NMI handler (x) took too long to run: 1.2 msecs",
          "perf: interrupt took too long (2501 > 2500)",
          "WARNING: See https://www.kernel.org/doc/html/latest/admin-guide/hw-vuln/spectre.html",
          "Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on",
          "MDS CPU bug present and SMT on, data leak possible.",
          "BUG: KASAN: use-after-free in kasan_test_init+0x1/0x2 [kasan_test]",
          "BUG: KFENCE: memory corruption in test_free [kfence_test]",
          "EXT4-fs warning (device vda): dirty", "this is not a BUG: really",
          "systemd[1]: WARNING: nothing", "my WARNING: in the middle"}) {
        EXPECT_FALSE(is_fatal_line(line)) << line;
    }
}

TEST(Console, FindsTheFirstFaultInPiecesOfAnySize) {
    const std::string text =
        "booting\r\n[    0.5] Oops: 0002 [#1]\r\n[    0.6] Kernel panic - not syncing\r\n";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        Console console;
        for (std::size_t at = 0; at < text.size(); at += size) {
            console.feed(std::string_view(text).substr(at, size));
        }
        EXPECT_EQ(console.fatal(), "[    0.5] Oops: 0002 [#1]") << size;
        EXPECT_EQ(console.lines(), 3u);
        EXPECT_EQ(console.text(), text);
    }
}

TEST(Console, SeesALineThatNothingEnded) {
    Console console;
    console.feed("Kernel panic - not syncing: x");
    EXPECT_EQ(console.fatal(), "");
    console.finish();
    EXPECT_EQ(console.fatal(), "Kernel panic - not syncing: x");
}

TEST(Console, KeepsItsSizeWhateverComes) {
    Console console;
    const std::string line(100'000, 'x');
    for (int i = 0; i < 1000; ++i)
        console.feed(line);  // 100 MB without a newline
    console.feed("\nBUG: at last\n");
    EXPECT_EQ(console.bytes(), 100'000'000u + 14u);
    EXPECT_EQ(console.fatal(), "BUG: at last");
    EXPECT_LE(console.text().size(), Console::kMaxKept * 3 / 2 + 100);
    EXPECT_NE(console.text().find("bytes not kept"), std::string::npos);
    EXPECT_TRUE(console.text().ends_with("BUG: at last\n"));
}

}  // namespace
}  // namespace vsb::guest
