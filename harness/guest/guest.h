#pragma once
// One booted guest: its machine's process, its console and its agent. What goes wrong is told
// apart: a kernel that reported a fault outranks a lost connection, and a silent guest is not one
// that prints without getting on.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/guest/agent.h"
#include "harness/guest/children.h"
#include "harness/guest/console.h"
#include "harness/guest/guest_run.h"
#include "harness/guest/initramfs.h"
#include "harness/guest/kernel.h"
#include "harness/guest/machine.h"
#include "transport/control.h"

namespace vsb::guest {

enum class Fault : std::uint8_t { kernel, ended, silent, chatter, garbage, flood, interrupted };
std::string_view fault_name(Fault fault);

class GuestFailure : public std::runtime_error {
  public:
    GuestFailure(Fault fault, const std::string& what) : std::runtime_error(what), fault_(fault) {}
    Fault fault() const { return fault_; }
    std::string console;   // of a guest that did not come up
    bool booting = false;  // it did not come up

  private:
    Fault fault_;
};

struct GuestSetup {
    Kernel kernel;
    Topology topology = Topology::vhost_user;
    Accel accel = Accel::tcg;
    GuestClock clock = GuestClock::wall;
    std::uint32_t cpus = 2;
    std::uint32_t memory_mib = 384;
    std::uint64_t seed = 1;
    std::uint32_t cid = 3;
    std::string cmdline;
    std::vector<std::pair<std::string, std::string>> sysctls;
    std::string initrd;        // path
    std::string scratch;       // a private folder for this boot
    std::string vhost_socket;  // vhost-user
    std::string qemu = "qemu-system-x86_64";
    bool hypervisor = false;             // has a guest of its own
    std::vector<SerialPort> ports = {};  // QEMU: further ones; the descriptors are ours
    // Its initramfs holds its orders (orders_text()), so many programs, and it takes no others: the
    // exact clock. 0: it takes them on its channel.
    std::uint64_t ordered_programs = 0;
    std::uint64_t boot_ns = 60'000'000'000;
    std::uint64_t stall_ns = 20'000'000'000;  // no progress for so long ends a trial
};

class Guest : public ProgramRunner {
  public:
    // Boots; returns when the agent has said hello and the sysctls are set. Throws GuestFailure, or
    // std::system_error when the machine's program cannot be started. `stop` is polled.
    Guest(const GuestSetup& setup, const std::function<bool()>& stop);
    // Boots within another guest, which starts `argv` and must outlive this one. The descriptors
    // are the ends of the other's serial ports.
    Guest(const GuestSetup& setup, const std::function<bool()>& stop, Guest& outer,
          const std::vector<std::string>& argv, Fd channel, Fd console);
    ~Guest() override;

    using ProgramRunner::start;
    std::uint64_t start(const std::vector<std::string>& argv, const std::string& file) override;
    // Throws GuestFailure.
    GuestRun finish(std::uint64_t id, std::uint64_t deadline_ns,
                    const std::function<bool()>& stop) override;
    // With ordered_programs: waits until they have run and the machine has ended in good order.
    // Their runs, in order. Throws GuestFailure.
    std::vector<GuestRun> finish_orders(std::uint64_t deadline_ns,
                                        const std::function<bool()>& stop);
    void kill(std::uint64_t id);
    void pin_interrupts(int cpu);

    // For callers that wait for something else meanwhile: takes in what came, at most `wait_ms`,
    // and says why there is no use in waiting on; empty: all is well. `progress` that does not grow
    // for stall_ns is a reason too.
    std::string look(int wait_ms, std::uint64_t progress);

    // Powers off, waits, and kills what does not go. Safe to call twice.
    void shut_down();
    void misbehave(const std::string& how);

    const Console& console() const { return console_; }
    const std::vector<std::string>& warnings() const { return warnings_; }
    const std::string& release() const { return release_; }
    std::uint32_t cpus() const { return cpus_; }
    std::uint64_t boot_ns() const { return boot_ns_; }
    bool alive() const { return alive_; }
    // The process group of everything that the machine runs on this host.
    pid_t machine_group() const { return machine_ ? machine_->pid() : outer_->machine_group(); }

  private:
    void boot(const std::function<bool()>& stop, std::uint64_t started_ns);
    void spawn();
    bool has_orders() const { return setup_.ordered_programs != 0; }
    bool machine_ended() const;
    std::string machine_end();
    void kill_machine();
    void wait_for_hello(const std::function<bool()>& stop);
    void read_console();
    bool read_agent();
    void take(const transport::ControlMessage& message);
    void poll_once(int wait_ms);
    void check();
    [[noreturn]] void fail_for_want_of_progress(const std::string& phase, std::uint64_t since_ns);
    void drain();
    void say(const std::string& line);
    void say(const transport::ControlMessage& message);

    GuestSetup setup_;
    Guest* outer_ = nullptr;  // topology nested: this guest is a program of that one
    std::uint64_t outer_run_ = 0;
    Fd channel_;
    Fd console_end_;
    std::unique_ptr<Child> machine_;
    Console console_;
    LineBuffer lines_;
    std::string garbage_;
    std::map<std::uint64_t, GuestRun> running_;
    std::map<std::uint64_t, GuestRun> finished_;
    std::vector<std::string> warnings_;
    std::string release_;
    std::uint32_t cpus_ = 0;
    bool hello_ = false;
    bool alive_ = true;
    bool channel_open_ = true;
    std::uint64_t next_id_ = 1;
    std::uint64_t boot_ns_ = 0;
    std::uint64_t last_print_ns_ = 0;
    std::uint64_t progress_ = 0;
    std::uint64_t last_progress_ns_ = 0;
    std::size_t bytes_at_progress_ = 0;
};

}  // namespace vsb::guest
