#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "datasets/csv.h"
#include "datasets/pairing.h"
#include "datasets/store.h"
#include "harness/build_facts.h"
#include "harness/cli/command.h"
#include "harness/cli/common_options.h"
#include "harness/cli/failure.h"
#include "harness/cli/foreign_input.h"
#include "harness/cli/output.h"
#include "reports/escape.h"

namespace vsb::cli {
namespace {

using datasets::ForeignFormat;
using datasets::PairedRuns;
using datasets::StateFile;
using nlohmann::ordered_json;

struct ImportCommand {
    std::vector<std::string> files;  // pairs in themselves, or runs in the order made
    std::vector<std::string> a;
    std::vector<std::string> b;
    std::string order;
    std::string from;
    std::string workload;
    std::string name;
    std::string spec_a;
    std::string spec_b;
    StoreOption store;
    FormatOption format;
};

struct Note {
    std::string file;
    std::string text;
};

// What will be stored, read and checked.
struct Ready {
    PairedRuns runs;
    std::string format;
    std::string content;  // tells one import from another
    std::vector<Note> notes;
};

struct Done {
    datasets::Store::Imported stored;
    std::string format;
};

constexpr const char* kHowToSayStates =
    " (say which files are which state: --a FILE... --b FILE..., or give all in the order they "
    "were "
    "made with --order ABBA)";

// Each part with its length, so that no two lists of parts read the same.
void add_content(std::string& content, std::string_view part) {
    content += std::to_string(part.size()) + ":" + std::string(part) + "\n";
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + name;
    constexpr std::size_t kLongest = 200;
    return reports::cut(text, kLongest);
}

// A JSON string is a TOML basic string, as long as what is not ASCII stays as it is.
std::string toml_string(const std::string& text) {
    return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string toml_list(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts)
        list += (list.empty() ? "" : ", ") + toml_string(text);
    return "[" + list + "]";
}

Ready ready_csv(const ImportCommand& options, const ForeignText& file) {
    if (!options.order.empty() || !options.workload.empty()) {
        throw Failure(kUsage, std::string(options.order.empty() ? "--workload" : "--order") + ": " +
                                  file.name + " is a CSV, which says itself (leave it out)");
    }
    std::istringstream in(file.text);
    Ready ready;
    ready.format = "csv";
    try {
        ready.runs = datasets::pair_series(datasets::read_csv(in, file.name, {}));
    } catch (const datasets::CsvError&) {
        throw;
    } catch (const std::invalid_argument& error) {
        throw Failure(kUsage, file.name + ": " + error.what());
    }
    add_content(ready.content, "csv");
    add_content(ready.content, file.text);
    ready.runs.experiment.name = file.name;
    ready.runs.experiment.config = "import = \"csv\"\nfiles = " + toml_list({file.name}) + "\n";
    return ready;
}

std::vector<StateFile> read_states(const std::vector<ForeignText>& texts, Ready& ready) {
    std::vector<StateFile> files;
    for (const ForeignText& text : texts) {
        if (text.format == ForeignFormat::csv) {
            throw Failure(kUsage, text.name +
                                      ": it is a CSV of pairs, not the runs of one state "
                                      "(import it alone, without --a, --b and --order)");
        }
        const auto twin = std::ranges::find(texts, text.text, &ForeignText::text);
        if (&*twin != &text) {
            throw Failure(kUsage, text.name + ": it is " + twin->name +
                                      " byte for byte, and one run counts once (leave one out)");
        }
        files.push_back({text.name, read_foreign(text)});
        const std::string& format = files.back().file.format;
        if (ready.format.empty()) ready.format = format;
        if (format != ready.format) {
            throw Failure(kUsage, text.name + ": it is " + format + ", and " + texts.front().name +
                                      " or another is " + ready.format +
                                      " (figures of two programs are no pair)");
        }
        for (const std::string& note : files.back().file.notes)
            ready.notes.push_back({text.name, note});
    }
    return files;
}

Ready ready_states(const ImportCommand& options, const std::vector<ForeignText>& a,
                   const std::vector<ForeignText>& b) {
    Ready ready;
    const std::vector<StateFile> files_a = read_states(a, ready);
    const std::vector<StateFile> files_b = read_states(b, ready);
    ready.runs = datasets::pair_files(files_a, files_b, {options.order, options.workload});
    for (const std::string_view part :
         {std::string_view(ready.format), std::string_view(options.order),
          std::string_view(options.workload)}) {
        add_content(ready.content, part);
    }
    std::vector<std::string> names_a;
    std::vector<std::string> names_b;
    for (const auto& [label, texts, names] : {std::tuple{"A", &a, &names_a}, {"B", &b, &names_b}}) {
        for (const ForeignText& text : *texts) {
            add_content(ready.content, label);
            add_content(ready.content, text.text);
            names->push_back(text.name);
        }
    }
    auto& experiment = ready.runs.experiment;
    experiment.name = joined(names_a) + " against " + joined(names_b);
    experiment.states[0].spec = joined(names_a);
    experiment.states[1].spec = joined(names_b);
    experiment.config = "import = " + toml_string(ready.format) + "\na = " + toml_list(names_a) +
                        "\nb = " + toml_list(names_b) + "\norder = " + toml_string(options.order) +
                        "\nworkload = " + toml_string(options.workload) + "\n";
    return ready;
}

std::vector<Ready> ready_all(const ImportCommand& options) {
    const auto read = [&options](const std::vector<std::string>& names) {
        std::vector<ForeignText> texts;
        texts.reserve(names.size());
        for (const std::string& name : names)
            texts.push_back(read_foreign_text(name, options.from));
        return texts;
    };
    if (!options.order.empty()) {
        try {
            datasets::check_order(options.order);
        } catch (const std::invalid_argument& error) {
            throw Failure(kUsage, std::string("--order: ") + error.what());
        }
    }
    if (options.a.empty() != options.b.empty()) {
        throw Failure(kUsage, std::string(options.a.empty() ? "--b" : "--a") +
                                  ": one state alone is no comparison" + kHowToSayStates);
    }
    if (options.files.empty() == options.a.empty()) {
        throw Failure(kUsage,
                      std::string("FILE...: ") +
                          (options.files.empty() ? "there is none" : "--a and --b are given too") +
                          kHowToSayStates);
    }
    std::vector<Ready> all;
    if (options.files.empty()) {
        all.push_back(ready_states(options, read(options.a), read(options.b)));
        return all;
    }
    const std::vector<ForeignText> texts = read(options.files);
    const bool csv = std::ranges::all_of(
        texts, [](const ForeignText& text) { return text.format == ForeignFormat::csv; });
    if (csv) {
        for (const ForeignText& text : texts)
            all.push_back(ready_csv(options, text));
        return all;
    }
    if (options.order.empty()) {
        throw Failure(kUsage, texts.front().name + ": it does not say which state it is of" +
                                  kHowToSayStates);
    }
    std::vector<ForeignText> a;
    std::vector<ForeignText> b;
    for (std::size_t i = 0; i < texts.size(); ++i)
        (options.order[i % options.order.size()] == 'A' ? a : b).push_back(texts[i]);
    if (b.empty()) throw Failure(kUsage, texts.front().name + ": it has no partner");
    all.push_back(ready_states(options, a, b));
    return all;
}

void complete(const ImportCommand& options, Ready& ready) {
    auto& experiment = ready.runs.experiment;
    if (!options.name.empty()) experiment.name = options.name;
    if (!options.spec_a.empty()) experiment.states[0].spec = options.spec_a;
    if (!options.spec_b.empty()) experiment.states[1].spec = options.spec_b;
    if (ready.format == "csv" && options.spec_a.empty() && options.spec_b.empty()) {
        experiment.states[0].spec = "A of " + experiment.name;
        experiment.states[1].spec = "B of " + experiment.name;
    }
    experiment.tool_version = harness::kVersion;
    experiment.environment["import.format"] = ready.format;
}

struct Counts {
    std::string workload;
    std::int64_t n_ab = 0;
    std::int64_t n_ba = 0;
};

std::vector<Counts> counts_of(const datasets::Store& store, datasets::Id experiment) {
    std::vector<Counts> all;
    for (const auto& series : store.paired(experiment)) {
        if (!all.empty() && all.back().workload == series.workload) continue;
        Counts counts{series.workload, 0, 0};
        for (const auto& pair : series.pairs)
            ++(pair.order == datasets::PairOrder::ab ? counts.n_ab : counts.n_ba);
        all.push_back(std::move(counts));
    }
    return all;
}

std::string as_json(const datasets::Store& store, const std::vector<Done>& all) {
    ordered_json document = {{"schema", "vsockbench.import/1"}, {"imports", ordered_json::array()}};
    for (const Done& done : all) {
        const auto& record = done.stored.experiment;
        ordered_json workloads = ordered_json::array();
        for (const Counts& counts : counts_of(store, record.id)) {
            workloads.push_back({{"name", counts.workload},
                                 {"pairs", counts.n_ab + counts.n_ba},
                                 {"n_ab", counts.n_ab},
                                 {"n_ba", counts.n_ba}});
        }
        document["imports"].push_back({{"experiment", record.id},
                                       {"uuid", record.uuid},
                                       {"name", record.name},
                                       {"format", done.format},
                                       {"new", done.stored.is_new},
                                       {"workloads", std::move(workloads)}});
    }
    return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string as_text(const datasets::Store& store, const std::vector<Done>& all) {
    std::string text;
    for (const Done& done : all) {
        const auto& record = done.stored.experiment;
        text += "experiment " + std::to_string(record.id) + " (" + reports::ascii(record.name) +
                "): " + done.format +
                (done.stored.is_new ? ", recorded\n" : ", recorded before: nothing is new\n");
        for (const Counts& counts : counts_of(store, record.id)) {
            text += "  " + reports::ascii(counts.workload) + ": " +
                    std::to_string(counts.n_ab + counts.n_ba) + " pairs (" +
                    std::to_string(counts.n_ab) + " AB, " + std::to_string(counts.n_ba) + " BA)\n";
        }
    }
    return text;
}

// One line for each text, whatever the number of files that it is about.
void tell(const std::vector<Note>& notes) {
    for (std::size_t i = 0; i < notes.size(); ++i) {
        const auto same = [&](const Note& other) { return other.text == notes[i].text; };
        const auto begin = notes.begin();
        if (std::any_of(begin, begin + static_cast<std::ptrdiff_t>(i), same)) continue;
        const auto count = std::ranges::count_if(notes, same);
        say("vsockbench: note: " + notes[i].file +
            (count > 1 ? " and " + std::to_string(count - 1) + " more: " : ": ") + notes[i].text);
    }
}

int import(const ImportCommand& options) {
    const std::string format = options.format.chosen();
    // All is read before any is stored.
    std::vector<Ready> all = ready_all(options);
    for (Ready& ready : all)
        complete(options, ready);
    auto store = datasets::Store::open(options.store.file(), datasets::OpenMode::read_write);
    std::vector<Done> done;
    for (const Ready& ready : all) {
        tell(ready.notes);
        done.push_back({store.import(ready.runs.experiment, ready.runs.trials,
                                     datasets::ExperimentStatus::finished, ready.content),
                        ready.format});
    }
    write_result(format == "json" ? as_json(store, done) : as_text(store, done));
    return kDone;
}

}  // namespace

Command add_import(CLI::App& program) {
    auto options = std::make_shared<ImportCommand>();
    CLI::App* app = program.add_subcommand("import", "figures of other programs into the store");
    app->add_option("FILE", options->files,
                    "CSVs of pairs, or with --order the runs of both states in the order made; "
                    "- is stdin")
        ->type_name("");
    app->add_option("--a", options->a, "the runs of state A, each the partner of one of --b")
        ->type_name("FILE...");
    app->add_option("--b", options->b, "the runs of state B")->type_name("FILE...");
    app->add_option("--order", options->order,
                    "states as they were run, repeated as needed: AB, ABBA (else by the times in "
                    "the files)")
        ->type_name("LETTERS");
    app->add_option("--from", options->from,
                    "csv, vsock_perf, iperf3, google-benchmark, perf-stat, perf-stat-json, "
                    "hyperfine or benchfmt (else by looking)")
        ->type_name("FORMAT");
    app->add_option("--workload", options->workload,
                    "the one workload of all files, whatever they call it")
        ->type_name("NAME");
    app->add_option("--name", options->name, "of the experiment (else its files')")
        ->type_name("NAME");
    app->add_option("--spec-a", options->spec_a, "what A is, for reports (else its files)")
        ->type_name("TEXT");
    app->add_option("--spec-b", options->spec_b, "what B is")->type_name("TEXT");
    options->store.add_to(*app);
    options->format.add_to(*app, {"text", "json"});
    app->footer(
        "Examples:\n"
        "  vsockbench import --order ABBA a1.txt b1.txt b2.txt a2.txt\n"
        "  vsockbench import --a old.json --b new.json --order AB --spec-a v6.1 --spec-b patched");
    return {app, [options] { return import(*options); }};
}

}  // namespace vsb::cli
