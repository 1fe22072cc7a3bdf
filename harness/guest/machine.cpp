#include "harness/guest/machine.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace vsb::guest {
namespace {

constexpr std::array kTopologies{Topology::loopback, Topology::vhost_user, Topology::vhost};

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
    return more.empty() ? text : text + ' ' + more;
}

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
    }
    return "";
}

Topology parse_topology(std::string_view name) {
    for (const Topology one : kTopologies) {
        if (name == topology_name(one)) return one;
    }
    throw std::invalid_argument("topology '" + std::string(name) +
                                "': there are loopback, vhost-user and vhost");
}

std::string_view accel_name(Accel accel) {
    return accel == Accel::kvm ? "kvm" : "tcg";
}
std::string_view clock_name(GuestClock clock) {
    return clock == GuestClock::exact ? "exact" : "wall";
}

std::vector<std::string> uml_argv(const UmlPlan& plan) {
    check_plan(plan);
    if (plan.topology == Topology::vhost) {
        throw std::invalid_argument("topology vhost: User Mode Linux has no vhost (vhost-user)");
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
    std::string cmdline =
        "console=ttyS0 panic=-1 oops=panic quiet loglevel=5 rdinit=/init vsb_channel=port:vsb";
    std::vector<std::string> argv{
        plan.program, "-nodefaults", "-no-user-config", "-nographic", "-no-reboot", "-nic", "none"};
    const auto add = [&argv](std::string option, std::string value) {
        argv.push_back(std::move(option));
        argv.push_back(std::move(value));
    };
    add("-M", "q35");
    if (plan.accel == Accel::kvm) {
        add("-accel", "kvm");
        add("-cpu", "host");
    } else {
        add("-accel", exact ? "tcg" : "tcg,thread=multi");
        add("-cpu", "qemu64");
    }
    if (exact) {
        // Seed, clock and layout fixed: two boots are the same to the nanosecond.
        add("-icount", "shift=0,sleep=off");
        add("-seed", std::to_string(plan.seed));
        add("-rtc", "base=2026-01-01,clock=vm");
        cmdline += " tsc=reliable norandmaps nokaslr";
    }
    add("-smp", std::to_string(plan.cpus));
    add("-m", mib);
    if (plan.topology == Topology::vhost_user) {
        add("-object", "memory-backend-memfd,id=m,size=" + mib + ",share=on");
        add("-machine", "memory-backend=m");
        add("-chardev", "socket,id=v,path=" + in_quotes(plan.vhost_socket));
        add("-device", "vhost-user-vsock-pci,chardev=v,addr=0x5");
    }
    if (plan.topology == Topology::vhost) {
        add("-device", "vhost-vsock-pci,guest-cid=" + std::to_string(plan.cid) + ",addr=0x5");
    }
    // The console on a descriptor of its own; the agent's channel on another, clean of kernel text.
    add("-add-fd", "fd=" + std::to_string(plan.console_fd) + ",set=1");
    add("-chardev", "file,id=console,path=/dev/fdset/1,append=on");
    add("-serial", "chardev:console");
    add("-chardev", "socket,id=agent,fd=" + std::to_string(plan.channel_fd));
    add("-device", "virtio-serial-pci,id=vser,addr=0x6");
    add("-device", "virtserialport,bus=vser.0,nr=1,chardev=agent,name=vsb");
    add("-device", "isa-debug-exit,iobase=0x501,iosize=4");
    add("-device", "pvpanic-pci");
    add("-action", "panic=exit-failure");
    add("-kernel", plan.kernel);
    add("-initrd", plan.initrd);
    add("-append", with(cmdline, plan.cmdline));
    return argv;
}

QemuExit qemu_exit(int status) {
    if (status == 1) return {QemuEnd::panic, 0};
    if (status >= 3 && status % 2 == 1) return {QemuEnd::reported, status >> 1};
    return {QemuEnd::off_or_died, status};
}

}  // namespace vsb::guest
