#include "harness/cli/failure.h"

#include <new>
#include <system_error>

#include "datasets/store.h"
#include "harness/cli/output.h"

namespace vsb::cli {
namespace {

int fail(ExitCode code, const std::string& line) {
    say("vsockbench: " + line);
    return code;
}

}  // namespace

int report_failures(int (*command)(int, char**), int argc, char** argv) {
    try {
        return command(argc, argv);
    } catch (const Failure& failure) {
        return fail(failure.code, failure.what());
    } catch (const datasets::StoreUnusable& error) {
        return fail(kUsage, error.what());
    } catch (const datasets::StoreWriteFailed& error) {
        return fail(kNotMeasured, std::string(error.what()) +
                                      " (what was committed before is kept; go on with --resume)");
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, error.what());
    } catch (const std::system_error& error) {
        return fail(kUsage, error.what());
    } catch (const std::bad_alloc&) {
        return fail(kNotMeasured,
                    "memory: there is not enough (close something, or a smaller run)");
    } catch (const std::exception& error) {
        return fail(kNotMeasured, error.what());
    }
}

}  // namespace vsb::cli
