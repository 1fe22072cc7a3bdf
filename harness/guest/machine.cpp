#include "harness/guest/machine.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace vsb::guest {
namespace {

constexpr std::array kTopologies{Topology::loopback, Topology::vhost_user, Topology::vhost,
                                 Topology::nested};

// QEMU reads `,` in an option's value as the end of it, and `,,` as a comma.
std::string in_quotes(std::string_view value) {
    std::string text;
    for (const char c : value) {
        if (c == ',') text += ',';
        text += c;
    }
    return text;
}

void check_plan(const BootPlan& plan) {
    if (plan.cpus < 1 || plan.cpus > 64) {
        throw std::invalid_argument("a guest has 1 to 64 CPUs, not " + std::to_string(plan.cpus));
    }
    if (plan.memory_mib < 64) {
        throw std::invalid_argument("a guest of " + std::to_string(plan.memory_mib) +
                                    " MiB does not boot (at least 64)");
    }
    if (plan.topology == Topology::vhost_user && plan.vhost_socket.empty()) {
        throw std::invalid_argument("vhost-user: no socket to connect to");
    }
}

std::string with(std::string text, const std::string& more) {
    if (!more.empty()) text.append(1, ' ').append(more);
    return text;
}

constexpr const char* kCmdline =
    "console=ttyS0 panic=-1 oops=panic quiet loglevel=5 rdinit=/init vsb_channel=port:vsb";

// Interrupts of the queues apart from each other: with fewer vectors than queues and one, they
// share one, and what is counted is not the RX queue's.
constexpr const char* kVectors = ",vectors=4";

// argv, option by option.
class Arguments {
  public:
    explicit Arguments(std::string program)
        : argv_{std::move(program), "-nodefaults", "-no-user-config", "-nographic", "-no-reboot"} {
        add("-nic", "none");
    }
    void add(std::string option, std::string value) {
        argv_.push_back(std::move(option));
        argv_.push_back(std::move(value));
    }
    // How a guest's end is told apart.
    void add_ends() {
        add("-device", "isa-debug-exit,iobase=0x501,iosize=4");
        add("-device", "pvpanic-pci");
        add("-action", "panic=exit-failure");
    }
    void add_kernel(const std::string& kernel, const std::string& initrd, std::string cmdline) {
        add("-kernel", kernel);
        add("-initrd", initrd);
        add("-append", std::move(cmdline));
    }
    std::vector<std::string> take() { return std::move(argv_); }

  private:
    std::vector<std::string> argv_;
};

}  // namespace

std::string_view vmm_name(Vmm vmm) {
    return vmm == Vmm::uml ? "uml" : "qemu";
}

std::string_view topology_name(Topology topology) {
    switch (topology) {
        case Topology::loopback:
            return "loopback";
        case Topology::vhost_user:
            return "vhost-user";
        case Topology::vhost:
            return "vhost";
        case Topology::nested:
            return "nested";
    }
    return "";
}

Topology parse_topology(std::string_view name) {
    for (const Topology one : kTopologies) {
        if (name == topology_name(one)) return one;
    }
    throw std::invalid_argument("topology '" + std::string(name) +
                                "': there are loopback, vhost-user, vhost and nested");
}

std::string_view accel_name(Accel accel) {
    return accel == Accel::kvm ? "kvm" : "tcg";
}
std::string_view clock_name(GuestClock clock) {
    return clock == GuestClock::exact ? "exact" : "wall";
}

std::vector<std::string> uml_argv(const UmlPlan& plan) {
    check_plan(plan);
    if (plan.topology == Topology::vhost || plan.topology == Topology::nested) {
        throw std::invalid_argument("topology " + std::string(topology_name(plan.topology)) +
                                    ": User Mode Linux has no vhost (vhost-user)");
    }
    for (const std::string& path : {plan.initrd, plan.directory, plan.vhost_socket}) {
        if (path.find_first_of(" ,:\t\n") != std::string::npos) {
            throw std::invalid_argument("'" + path +
                                        "': User Mode Linux cannot be given a path with a blank, "
                                        "comma or colon (set TMPDIR to another)");
        }
    }
    const std::string fd = std::to_string(plan.channel_fd);
    std::vector<std::string> argv{
        plan.program,
        "mem=" + std::to_string(plan.memory_mib) + "M",
        "initrd=" + plan.initrd,
        "rdinit=/init",
        // The console on stdin and stdout, the agent's channel on a serial line of its own.
        "con0=fd:0,fd:1",
        "con=null",
        "ssl0=fd:" + fd + ",fd:" + fd,
        "ssl=null",
        "uml_dir=" + plan.directory,
        "umid=guest",
        "panic=-1",
        "quiet",
        "loglevel=5",  // warnings too: a WARNING: is a fault
        "vsb_channel=/dev/ttyS0",
    };
    if (plan.topology == Topology::vhost_user) {
        argv.push_back("virtio_uml.device=" + plan.vhost_socket + ":19");
    }
    if (plan.cpus > 1) {
        argv.emplace_back("seccomp=on");  // required for SMP
        argv.push_back("ncpus=" + std::to_string(plan.cpus));
        // A CPU that goes idle just as another one wakes a task on it can miss that (seen with 7.2:
        // one transfer in ten stood still until the next tick, a second later). With a tick that
        // never stops it is 10 ms.
        argv.emplace_back("nohz=off");
    }
    // Each word of the state's command line is an argument of the kernel's own.
    std::size_t at = 0;
    while ((at = plan.cmdline.find_first_not_of(' ', at)) != std::string::npos) {
        const std::size_t end = std::min(plan.cmdline.find(' ', at), plan.cmdline.size());
        argv.push_back(plan.cmdline.substr(at, end - at));
        at = end;
    }
    return argv;
}

std::vector<std::string> qemu_argv(const QemuPlan& plan) {
    check_plan(plan);
    const bool exact = plan.clock == GuestClock::exact;
    if (exact &&
        (plan.cpus != 1 || plan.accel != Accel::tcg || plan.topology != Topology::loopback)) {
        throw std::invalid_argument(
            "clock exact: needs one CPU, TCG and topology loopback, where idle time is none");
    }
    const std::string mib = std::to_string(plan.memory_mib) + "M";
    std::string cmdline = kCmdline;
    Arguments to(plan.program);
    to.add("-M", "q35");
    if (plan.accel == Accel::kvm) {
        to.add("-accel", "kvm");
        to.add("-cpu", "host");
    } else {
        to.add("-accel", exact ? "tcg" : "tcg,thread=multi");
        // Exact: rdrand is what carries -seed to the kernel.
        to.add("-cpu", plan.hypervisor ? "max,+svm" : exact ? "qemu64,+rdrand" : "qemu64");
        // A busy host starves the emulated timer while the kernel looks whether it ticks.
        cmdline += " no_timer_check";
    }
    if (exact) {
        // Seed, clock and layout fixed: two boots are the same to the nanosecond.
        to.add("-icount", "shift=0,sleep=off");
        to.add("-seed", std::to_string(plan.seed));
        to.add("-rtc", "base=2026-01-01,clock=vm");
        cmdline += " tsc=reliable norandmaps nokaslr";
    }
    to.add("-smp", std::to_string(plan.cpus));
    to.add("-m", mib);
    if (plan.topology == Topology::vhost_user) {
        to.add("-object", "memory-backend-memfd,id=m,size=" + mib + ",share=on");
        to.add("-machine", "memory-backend=m");
        to.add("-chardev", "socket,id=v,path=" + in_quotes(plan.vhost_socket));
        to.add("-device", std::string("vhost-user-vsock-pci,chardev=v,addr=0x5") + kVectors);
    }
    if (plan.topology == Topology::vhost) {
        to.add("-device",
               "vhost-vsock-pci,guest-cid=" + std::to_string(plan.cid) + ",addr=0x5" + kVectors);
    }
    // The console on a descriptor of its own; the agent's channel on another, clean of kernel text.
    to.add("-add-fd", "fd=" + std::to_string(plan.console_fd) + ",set=1");
    to.add("-chardev", "file,id=console,path=/dev/fdset/1,append=on");
    to.add("-serial", "chardev:console");
    const std::string channel = std::to_string(plan.channel_fd);
    if (exact) {
        to.add("-add-fd", "fd=" + channel + ",set=2");
        to.add("-chardev", "file,id=agent,path=/dev/fdset/2,append=on");
    } else {
        to.add("-chardev", "socket,id=agent,fd=" + channel);
    }
    // Exact: what the guest writes is in the file when its instruction has ended. By an event to
    // another thread it would come when the host pleases, and the last of it after the guest's end.
    to.add("-device",
           std::string("virtio-serial-pci,id=vser,addr=0x6") + (exact ? ",ioeventfd=off" : ""));
    to.add("-device", "virtserialport,bus=vser.0,nr=1,chardev=agent,name=vsb");
    int number = 1;
    for (const SerialPort& port : plan.ports) {
        const std::string nr = std::to_string(++number);
        to.add("-chardev", "socket,id=port" + nr + ",fd=" + std::to_string(port.fd));
        std::string device = "virtserialport,bus=vser.0,nr=";
        device.append(nr).append(",chardev=port").append(nr).append(",name=").append(port.name);
        to.add("-device", std::move(device));
    }
    to.add_ends();
    to.add_kernel(plan.kernel, plan.initrd, with(cmdline, plan.cmdline));
    return to.take();
}

std::vector<std::string> inner_qemu_argv(const InnerPlan& plan) {
    Arguments to(plan.program);
    to.add("-L", plan.firmware);
    to.add("-M", "pc");
    to.add("-accel", "kvm");
    to.add("-cpu", plan.outer == Accel::kvm ? "host" : "qemu64,-svm");
    to.add("-smp", std::to_string(plan.cpus));
    to.add("-m", std::to_string(plan.memory_mib) + "M");
    to.add("-device", "vhost-vsock-pci,guest-cid=" + std::to_string(plan.cid) + kVectors);
    // A `pipe` of one name opens it for both directions.
    to.add("-chardev", "pipe,id=console,path=" + plan.console);
    to.add("-serial", "chardev:console");
    to.add("-chardev", "pipe,id=agent,path=" + plan.channel);
    to.add("-device", "virtio-serial-pci,id=vser");
    to.add("-device", "virtserialport,bus=vser.0,nr=1,chardev=agent,name=vsb");
    to.add_ends();
    to.add_kernel(plan.kernel, plan.initrd, with(kCmdline, plan.cmdline));
    return to.take();
}

QemuExit qemu_exit(int status) {
    if (status == 1) return {QemuEnd::panic, 0};
    if (status >= 3 && status % 2 == 1) return {QemuEnd::reported, status >> 1};
    return {QemuEnd::off_or_died, status};
}

}  // namespace vsb::guest
