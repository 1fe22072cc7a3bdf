#include "harness/machine_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace vsb::harness {
namespace {

constexpr const char* kCpuinfo =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9B14\n"
    "flags\t\t: fpu vme hypervisor lahf_lm\n\nprocessor\t: 1\nmodel name\t: another\n";

TEST(MachineText, CpuModel) {
    EXPECT_EQ(cpu_model(kCpuinfo), "AMD EPYC 9B14");
    EXPECT_EQ(cpu_model("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"),
              "implementer 0x41 part 0xd0c");
    EXPECT_EQ(cpu_model(""), "unknown");
    EXPECT_EQ(cpu_model("model name : \n"), "unknown");
}

TEST(MachineText, OneLiners) {
    EXPECT_EQ(cpus_allowed_list("Cpus_allowed:\tff\nCpus_allowed_list:\t0-7\n"), "0-7");
    EXPECT_EQ(cpus_allowed_list("Cpus_allowed:\tff\n"), "unknown");
    EXPECT_EQ(load_average("0.52 0.58 0.59 1/602 12345\n"), "0.52");
    EXPECT_EQ(load_average(""), "unknown");
    EXPECT_EQ(kernel_line("Linux\n", "6.1.0-18-amd64\n", "x86_64\n"),
              "Linux 6.1.0-18-amd64 x86_64");
    EXPECT_EQ(kernel_line("Linux\n", "6.1.0\n", ""), "Linux 6.1.0");
    EXPECT_EQ(kernel_line("Linux\n", "", "x86_64"), "unknown");
}

TEST(MachineText, Governors) {
    EXPECT_EQ(governor_line({}), "none (no cpufreq)");
    EXPECT_EQ(governor_line({{0, "performance\n"}, {1, "performance\n"}}), "performance");
    EXPECT_EQ(governor_line({{0, "performance\n"}, {1, "powersave\n"}, {2, "performance\n"}}),
              "performance: 0,2; powersave: 1");
}

TEST(MachineText, TurboAndSmt) {
    EXPECT_EQ(turbo_line("0\n", ""), "on");
    EXPECT_EQ(turbo_line("1\n", "1\n"), "off");
    EXPECT_EQ(turbo_line("", "1\n"), "on");
    EXPECT_EQ(turbo_line("", "0\n"), "off");
    EXPECT_EQ(turbo_line("", ""), "unknown");
    EXPECT_EQ(turbo_line("2", ""), "unknown");
    EXPECT_EQ(smt_line("1\n", "on\n"), "on");
    EXPECT_EQ(smt_line("0\n", "forceoff\n"), "off (forceoff)");
    EXPECT_EQ(smt_line("0\n", "off\n"), "off");
    EXPECT_EQ(smt_line("", ""), "unknown");
}

TEST(MachineText, Mitigations) {
    EXPECT_EQ(mitigations_line({{"meltdown", "Mitigation: PTI\n"}, {"mds", "Not affected\n"}}, ""),
              "meltdown: Mitigation: PTI");
    EXPECT_EQ(mitigations_line({{"meltdown", "Vulnerable\n"}}, "quiet mitigations=off\n"),
              "mitigations=off; meltdown: Vulnerable");
    EXPECT_EQ(mitigations_line({{"mds", "Not affected\n"}}, "nomitigations=off"), "none needed");
    EXPECT_EQ(mitigations_line({}, ""), "unknown");
}

TEST(MachineText, Virtualization) {
    EXPECT_EQ(virtualization_line(kCpuinfo, "QEMU\n", "Standard PC\n", ""),
              "hypervisor flag set, QEMU, Standard PC");
    EXPECT_EQ(virtualization_line("flags : fpu\n", "Dell Inc.\n", "R750\n", ""), "none seen");
    EXPECT_EQ(virtualization_line("", "", "", "xen\n"), "xen");
    EXPECT_EQ(virtualization_line("flags : nohypervisorx\n", "", "", ""), "none seen");
}

TEST(MachineText, AnyTextGivesOneValidLine) {
    rc::check("hostile text", [](const std::string& text) {
        for (const std::string& value :
             {cpu_model(text), cpu_model("model name : " + text), cpus_allowed_list(text),
              load_average(text), kernel_line(text, text, text), governor_line({{0, text}}),
              turbo_line(text, text), smt_line(text, text), mitigations_line({{"x", text}}, text),
              virtualization_line("flags : hypervisor", text, text, text)}) {
            RC_ASSERT(!value.empty());
            RC_ASSERT(value.find('\n') == std::string::npos);
        }
    });
}

}  // namespace
}  // namespace vsb::harness
