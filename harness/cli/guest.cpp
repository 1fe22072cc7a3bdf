// `vsockbench guest`: kernels, initramfs and single guests by hand.

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "harness/cli/command.h"
#include "harness/cli/failure.h"
#include "harness/cli/guest_options.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/output.h"
#include "harness/guest/boot.h"
#include "harness/guest/initramfs.h"

namespace vsb::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kProgramNs = 3600'000'000'000;

struct GuestCommand {
    std::string action;
    std::string spec;  // kernel=..., or a kernel's name alone
    harness::GuestMachine machine;
    std::string output;
};

std::string spec_of(const std::string& text) {
    return text.empty() || text.find('=') != std::string::npos ? text : "kernel=" + text;
}

int list_kernels(const guest::GuestOptions& options) {
    std::string text;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(options.cache, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("kernel-")) text += name.substr(7) + "\n";
    }
    write_result(text.empty() ? "no kernels in " + options.cache.string() + "\n" : text);
    return kDone;
}

int show_kernel(const GuestCommand& command) {
    const guest::GuestOptions options = guest_options(command.machine);
    if (command.spec.empty()) return list_kernels(options);
    const guest::GuestState state = guest::parse_guest_state(spec_of(command.spec));
    guest::KernelRequest request;
    request.kernel = state.kernel;
    request.modules = state.modules;
    request.cache = options.cache;
    request.say = options.say;
    request.stop = options.stop;
    const guest::Kernel kernel = guest::find_kernel(request);
    std::string text;
    const auto line = [&](const char* label, const std::string& value) {
        text += fmt::format("{:<12}{}\n", label, value.empty() ? "unknown" : value);
    };
    line("image", kernel.image.string());
    line("release", kernel.release);
    line("machine", std::string(guest::vmm_name(kernel.vmm)));
    line("CPUs", kernel.smp ? "several" : "one");
    line("modules", kernel.modules.empty() ? "none" : kernel.modules.string());
    for (const auto topology : {guest::Topology::vhost_user, guest::Topology::loopback}) {
        const auto missing =
            guest::missing_options(kernel.config, kernel.vmm, topology, !kernel.modules.empty());
        std::string value = kernel.config.empty() ? "unknown (no configuration in it)" : "fits";
        for (const std::string& one : missing)
            value = value == "fits" ? one : fmt::format("{}; {}", value, one);
        line(std::string(guest::topology_name(topology)).c_str(), value);
    }
    write_result(text);
    return kDone;
}

int write_image(const GuestCommand& command) {
    if (command.output.empty()) {
        throw Failure(kUsage, "guest image: no file to write to (-o FILE)");
    }
    const auto ready = guest::make_ready(spec_of(command.spec), guest_options(command.machine),
                                         fs::absolute(command.output));
    write_result(fmt::format("{}: {} bytes, for {}\n", command.output, fs::file_size(ready.initrd),
                             ready.kernel.source));
    return kDone;
}

struct OneGuest {
    guest::GuestOptions options;
    guest::PrivateFolder folder;
    guest::BootedGuest booted;

    explicit OneGuest(const GuestCommand& command)
        : options(guest_options(command.machine)),
          folder(options.scratch.string()),
          booted(guest::make_ready(spec_of(command.spec), options, folder.path() + "/initrd"),
                 options, 1) {}
};

int boot_once(const GuestCommand& command) {
    OneGuest one(command);
    guest::Guest& machine = one.booted.guest();
    std::string text =
        fmt::format("booted Linux {} with {} CPU(s) in {:.2f} s\n", machine.release(),
                    machine.cpus(), static_cast<double>(machine.boot_ns()) / 1e9);
    for (const std::string& warning : machine.warnings())
        text += "warning: " + warning + "\n";
    machine.shut_down();
    text += fmt::format("powered off; {} lines on its console\n", machine.console().lines());
    if (!command.output.empty()) guest::write_whole(command.output, machine.console().text());
    write_result(text);
    return kDone;
}

// Every line of stdin is a program with its arguments, run in the guest: there is no shell in it.
int run_lines(const GuestCommand& command) {
    OneGuest one(command);
    guest::Guest& machine = one.booted.guest();
    say(fmt::format("Linux {}: a program and its arguments a line, as in: /vsb-receiver --help",
                    machine.release()));
    std::string line;
    int worst = kDone;
    while (!interrupted() && std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::vector<std::string> argv;
        for (std::string word; words >> word;)
            argv.push_back(word);
        if (argv.empty()) continue;
        const std::uint64_t id = machine.start(argv);
        const guest::GuestRun run =
            machine.finish(id, guest::monotonic_ns() + kProgramNs, interrupted);
        write_result(run.output);
        if (run.status != 0 || run.signal != 0) {
            say(guest::describe(guest::ExitStatus{run.status, run.signal}));
            worst = kNotMeasured;
        }
    }
    return interrupted() ? kInterrupted : worst;
}

int run_guest_command(const GuestCommand& command) {
    watch_interrupts();
    try {
        if (command.action == "kernel") return show_kernel(command);
        if (command.action == "image") return write_image(command);
        return command.action == "boot" ? boot_once(command) : run_lines(command);
    } catch (const guest::KernelUnavailable& error) {
        if (interrupted()) return kInterrupted;
        throw Failure(kSkipped, error.what());
    } catch (const guest::GuestFailure& failure) {
        if (failure.fault() == guest::Fault::interrupted) return kInterrupted;
        throw Failure(kNotMeasured, std::string("guest: ") + failure.what());
    } catch (const std::system_error& error) {
        throw Failure(kNotMeasured, std::string("guest: ") + error.what());
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string("guest: ") + error.what());
    } catch (const Failure&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw Failure(kNotMeasured, std::string("guest: ") + error.what());
    }
}

}  // namespace

Command add_guest(CLI::App& program) {
    auto command = std::make_shared<GuestCommand>();
    CLI::App* app =
        program.add_subcommand("guest", "guest kernels, initramfs, and one guest by hand");
    app->add_option("ACTION", command->action,
                    "kernel (find or fetch, and describe; without KERNEL: list), image (write the "
                    "initramfs), boot (once, and power off), shell (programs from stdin)")
        ->required()
        ->check(CLI::IsMember({"kernel", "image", "boot", "shell"}));
    app->add_option(
        "KERNEL", command->spec,
        "debian, debian:SUITE, debian-uml, a file, a build tree, or a whole state SPEC");
    app->add_option("--vmm", command->machine.vmm, "auto, uml, qemu (auto)");
    app->add_option("--topology", command->machine.topology,
                    "auto, loopback, vhost-user, vhost, nested (vhost-user)");
    app->add_option("--clock", command->machine.clock, "wall, exact (wall)");
    app->add_option("--accel", command->machine.accel, "auto, kvm, tcg (auto)");
    app->add_option("-o,--output", command->output, "image: the file; boot: of its console");
    app->footer(
        "Examples:\n"
        "  vsockbench guest kernel debian-uml\n"
        "  vsockbench guest boot ~/linux/linux");
    return {app, [command] { return run_guest_command(*command); }};
}

}  // namespace vsb::cli
