#pragma once
// The command lines of the virtual machines, as pure functions of what is to be booted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::guest {

enum class Vmm : std::uint8_t { uml, qemu };
std::string_view vmm_name(Vmm vmm);

enum class Topology : std::uint8_t { loopback, vhost_user, vhost, nested };
std::string_view topology_name(Topology topology);
// Throws std::invalid_argument naming the topologies.
Topology parse_topology(std::string_view name);

enum class Accel : std::uint8_t { tcg, kvm };
std::string_view accel_name(Accel accel);

enum class GuestClock : std::uint8_t { wall, exact };
std::string_view clock_name(GuestClock clock);

// What every machine is given. Paths must be UTF-8 or whatever the file system takes; a comma in
// one is doubled where the option needs it.
struct BootPlan {
    std::string program;  // the UML kernel itself, or qemu-system-x86_64
    std::string kernel;   // QEMU: the image
    std::string initrd;
    std::string cmdline;  // the state's, appended
    std::uint32_t memory_mib = 384;
    std::uint32_t cpus = 2;
    Topology topology = Topology::vhost_user;
    std::string vhost_socket;  // vhost_user: where the device listens
    std::uint32_t cid = 3;     // vhost: the guest's
};

struct UmlPlan : BootPlan {
    std::string directory;  // of the management console's files: ours, private
    int channel_fd = 3;     // the agent's channel, inherited
};

// argv[0] included. Throws std::invalid_argument: a path with a blank or a comma, which UML's own
// command line cannot carry; a topology UML does not have.
std::vector<std::string> uml_argv(const UmlPlan& plan);

// A serial port of the guest beside the agent's: /dev/vport0p2, p3, ... in their order.
struct SerialPort {
    std::string name;
    int fd = -1;  // a socket, inherited
};

struct QemuPlan : BootPlan {
    Accel accel = Accel::tcg;
    GuestClock clock = GuestClock::wall;
    std::uint64_t seed = 1;  // exact clock: of QEMU's own randomness
    // The agent's channel: a socket; under the exact clock a file, since orders that come when it
    // pleases the host would move the guest's clock.
    int channel_fd = 3;
    int console_fd = 4;
    bool hypervisor = false;  // has a guest of its own: virtualization is emulated
    std::vector<SerialPort> ports = {};
};

// Throws std::invalid_argument: exact with more than one CPU, with KVM or outside loopback.
std::vector<std::string> qemu_argv(const QemuPlan& plan);

// Topology nested: the command line, within the first guest, of the second one. Its agent's channel
// and its console are serial ports of the first guest.
struct InnerPlan {
    std::string program = "/usr/bin/qemu-system-x86_64";
    std::string firmware;  // folder
    std::string kernel;
    std::string initrd;
    std::string cmdline;  // the state's
    std::uint32_t memory_mib = 384;
    std::uint32_t cpus = 2;
    std::uint32_t cid = 42;
    Accel outer = Accel::tcg;  // what the first guest runs on
    std::string channel;       // "/dev/vport0p2"
    std::string console;
};
std::vector<std::string> inner_qemu_argv(const InnerPlan& plan);

// What QEMU's exit status says, with isa-debug-exit at 0x501 and pvpanic.
enum class QemuEnd : std::uint8_t { off_or_died, panic, reported };
struct QemuExit {
    QemuEnd end = QemuEnd::off_or_died;
    int status = 0;  // reported: what the guest wrote, 1 for success
};
QemuExit qemu_exit(int status);

}  // namespace vsb::guest
