#include "harness/cli/guest_options.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "harness/cli/failure.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/output.h"
#include "harness/guest/allowed.h"
#include "harness/guest/kernel.h"

namespace vsb::cli {
namespace {

namespace fs = std::filesystem;

// A UML guest's memory is a file in TMPDIR: on a disk every page of it would be written back.
fs::path scratch_folder() {
    if (const char* given = std::getenv("TMPDIR"); given != nullptr && given[0] == '/')
        return given;
    return guest::best_scratch({"/dev/shm", "/tmp"});
}

}  // namespace

guest::GuestOptions guest_options(const harness::GuestMachine& machine) {
    guest::GuestOptions options;
    try {
        options.cache = guest::cache_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
        guest::set_vmm(options, machine.vmm);
        guest::set_topology(options, machine.topology);
        guest::set_clock(options, machine.clock);
        guest::set_accel(options, machine.accel);
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, std::string("guest: ") + error.what());
    }
    options.programs = fs::read_symlink("/proc/self/exe").parent_path();
    options.scratch = scratch_folder();
    options.say = [](const std::string& text) { say("vsockbench: " + text); };
    options.stop = interrupted;
    return options;
}

}  // namespace vsb::cli
