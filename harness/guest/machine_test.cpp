#include "harness/guest/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace vsb::guest {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string value_of(const std::vector<std::string>& argv, const std::string& option) {
    for (std::size_t i = 0; i + 1 < argv.size(); ++i) {
        if (argv[i] == option) return argv[i + 1];
    }
    return {};
}

UmlPlan uml() {
    UmlPlan plan;
    plan.program = "/k/linux";
    plan.initrd = "/d/initrd";
    plan.directory = "/d";
    plan.vhost_socket = "/d/vhost";
    return plan;
}

QemuPlan qemu() {
    QemuPlan plan;
    plan.program = "qemu-system-x86_64";
    plan.kernel = "/k/bzImage";
    plan.initrd = "/d/initrd";
    plan.vhost_socket = "/d/a,b";
    return plan;
}

TEST(UmlArgv, IsTheCommandLineThatWasSeenToWork) {
    const auto argv = uml_argv(uml());
    EXPECT_EQ(argv.front(), "/k/linux");
    for (const char* word :
         {"mem=384M", "initrd=/d/initrd", "rdinit=/init", "con0=fd:0,fd:1", "con=null",
          "ssl0=fd:3,fd:3", "ssl=null", "uml_dir=/d", "panic=-1", "quiet",
          "virtio_uml.device=/d/vhost:19", "seccomp=on", "ncpus=2", "nohz=off"}) {
        EXPECT_THAT(argv, Contains(word));
    }
}

TEST(UmlArgv, OneCpuNeedsNoSeccomp) {
    UmlPlan plan = uml();
    plan.cpus = 1;
    EXPECT_THAT(uml_argv(plan), Not(Contains("seccomp=on")));
    EXPECT_THAT(uml_argv(plan), Not(Contains("ncpus=1")));
}

TEST(UmlArgv, TheStatesWordsComeLast) {
    UmlPlan plan = uml();
    plan.cmdline = " a=1,2  debug ";
    const auto argv = uml_argv(plan);
    EXPECT_EQ(argv.back(), "debug");
    EXPECT_EQ(argv[argv.size() - 2], "a=1,2");
}

TEST(UmlArgv, RefusesWhatItCannotSay) {
    UmlPlan plan = uml();
    plan.vhost_socket = "/d/a:b";
    EXPECT_THROW(uml_argv(plan), std::invalid_argument);
    plan = uml();
    plan.topology = Topology::vhost;
    EXPECT_THROW(uml_argv(plan), std::invalid_argument);
    plan = uml();
    plan.cpus = 0;
    EXPECT_THROW(uml_argv(plan), std::invalid_argument);
}

TEST(QemuArgv, DoublesCommasAndHasNoNetwork) {
    const auto argv = qemu_argv(qemu());
    EXPECT_THAT(argv, Contains("socket,id=v,path=/d/a,,b"));
    EXPECT_EQ(value_of(argv, "-nic"), "none");
    EXPECT_THAT(argv, Contains("-nodefaults"));
    EXPECT_EQ(value_of(argv, "-accel"), "tcg,thread=multi");
    EXPECT_THAT(value_of(argv, "-append"), HasSubstr("rdinit=/init"));
    EXPECT_THAT(argv, Contains("memory-backend-memfd,id=m,size=384M,share=on"));
}

TEST(QemuArgv, ExactFixesEverythingThatMoves) {
    QemuPlan plan = qemu();
    plan.clock = GuestClock::exact;
    EXPECT_THROW(qemu_argv(plan), std::invalid_argument);  // two CPUs, vhost-user
    plan.cpus = 1;
    plan.topology = Topology::loopback;
    plan.seed = 7;
    const auto argv = qemu_argv(plan);
    EXPECT_EQ(value_of(argv, "-icount"), "shift=0,sleep=off");
    EXPECT_EQ(value_of(argv, "-seed"), "7");
    EXPECT_EQ(value_of(argv, "-cpu"), "qemu64,+rdrand");
    EXPECT_EQ(value_of(argv, "-accel"), "tcg");
    EXPECT_THAT(value_of(argv, "-append"), HasSubstr("tsc=reliable norandmaps nokaslr"));
    EXPECT_EQ(qemu_argv(plan), argv);
}

TEST(QemuArgv, ExactTakesNothingFromTheHost) {
    QemuPlan plan = qemu();
    plan.cpus = 1;
    plan.topology = Topology::loopback;
    EXPECT_THAT(qemu_argv(plan), Contains("socket,id=agent,fd=3"));
    plan.clock = GuestClock::exact;
    EXPECT_THAT(qemu_argv(plan), Contains("file,id=agent,path=/dev/fdset/2,append=on"));
    EXPECT_THAT(qemu_argv(plan), Contains("virtio-serial-pci,id=vser,addr=0x6,ioeventfd=off"));
    for (const std::string& word : qemu_argv(plan))
        EXPECT_THAT(word, Not(testing::StartsWith("socket")));
}

TEST(QemuArgv, AHypervisorVirtualizesAndHasPortsForItsGuest) {
    QemuPlan plan = qemu();
    plan.topology = Topology::nested;
    plan.hypervisor = true;
    plan.ports = {{"inner-agent", 5}, {"inner-console", 6}};
    const auto argv = qemu_argv(plan);
    EXPECT_EQ(value_of(argv, "-cpu"), "max,+svm");
    EXPECT_THAT(argv, Contains("socket,id=port2,fd=5"));
    EXPECT_THAT(argv, Contains("virtserialport,bus=vser.0,nr=3,chardev=port3,name=inner-console"));
    for (const std::string& word : argv)
        EXPECT_THAT(word, Not(HasSubstr("vhost")));
    plan.accel = Accel::kvm;
    EXPECT_EQ(value_of(qemu_argv(plan), "-cpu"), "host");
}

TEST(InnerQemuArgv, IsARealVhostVsockUnderKvm) {
    InnerPlan plan;
    plan.firmware = "/qemu";
    plan.kernel = "/inner/kernel";
    plan.initrd = "/inner/initrd";
    plan.cmdline = "mitigations=off";
    plan.channel = "/dev/vport0p2";
    plan.console = "/dev/vport0p3";
    const auto argv = inner_qemu_argv(plan);
    EXPECT_LE(argv.size(), 64u);  // what an order holds
    EXPECT_EQ(value_of(argv, "-accel"), "kvm");
    EXPECT_EQ(value_of(argv, "-nic"), "none");
    EXPECT_THAT(argv, Contains("vhost-vsock-pci,guest-cid=42,vectors=4"));
    EXPECT_THAT(argv, Contains("pipe,id=agent,path=/dev/vport0p2"));
    EXPECT_THAT(value_of(argv, "-append"), testing::EndsWith(" mitigations=off"));
}

TEST(QemuExit, TellsAPanicFromAReport) {
    EXPECT_EQ(qemu_exit(0).end, QemuEnd::off_or_died);
    EXPECT_EQ(qemu_exit(1).end, QemuEnd::panic);
    EXPECT_EQ(qemu_exit(3).end, QemuEnd::reported);
    EXPECT_EQ(qemu_exit(3).status, 1);
    EXPECT_EQ(qemu_exit(9).status, 4);
    EXPECT_EQ(qemu_exit(2).end, QemuEnd::off_or_died);
}

TEST(Topology, Names) {
    for (const char* name : {"loopback", "vhost-user", "vhost", "nested"})
        EXPECT_EQ(topology_name(parse_topology(name)), name);
    EXPECT_THROW(parse_topology("vhost_user"), std::invalid_argument);
}

}  // namespace
}  // namespace vsb::guest
