#include "datasets/hyperfine.h"

#include <set>

#include "datasets/foreign_json.h"

namespace vsb::datasets {
namespace {

void refuse_failures(const JsonValue& result) {
    const auto codes = result.find("exit_codes");
    if (!codes) return;
    for (const JsonValue& code : codes->items()) {
        if (!code.is_number()) code.fail("the run was ended by a signal");
        if (code.whole() != 0) code.fail("the run exited with an error");
    }
}

}  // namespace

ForeignFile read_hyperfine(std::string_view text, const std::string& name) {
    const JsonDocument document(text, name);
    ForeignFile file;
    file.format = "hyperfine";
    std::set<std::string> commands;
    const JsonValue results = document.root().at("results");
    for (const JsonValue& result : results.items()) {
        const JsonValue command = result.at("command");
        ForeignRun run;
        run.workload.name = command.text();
        run.workload.kind = "command";
        if (!commands.insert(run.workload.name).second) command.fail("it is there twice");
        refuse_failures(result);
        const JsonValue times = result.at("times");
        for (const JsonValue& time : times.items()) {
            run.measurements = {{"time", "s", time.positive()}};
            constexpr double kMostSeconds = 1e9;
            if (time.positive() > kMostSeconds) time.fail("it is longer than thirty years");
            run.wall_time_ns = static_cast<std::int64_t>(time.positive() * 1e9);
            file.runs.push_back(run);
            if (file.runs.size() > ForeignCaps::kRuns) time.fail("there are too many runs");
        }
        if (file.runs.empty() || file.runs.back().workload.name != run.workload.name) {
            times.fail("there is none");
        }
    }
    if (file.runs.empty()) results.fail("there is none");
    return file;
}

}  // namespace vsb::datasets
