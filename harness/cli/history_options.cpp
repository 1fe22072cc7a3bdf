#include "harness/cli/history_options.h"

#include <algorithm>
#include <stdexcept>

#include "harness/cli/failure.h"
#include "harness/value_text.h"
#include "reports/gnuplot.h"
#include "reports/history_html.h"

namespace vsb::cli {
namespace {

constexpr std::uint64_t kMostNights = 1'000'000;

// "2026-10-01", or a longer beginning of a time.
std::string parse_date(const std::string& text) {
    constexpr std::string_view kShape = "dddd-dd-dd";
    bool fits = text.size() >= kShape.size() && text.size() <= 24;
    for (std::size_t i = 0; fits && i < kShape.size(); ++i) {
        fits = kShape[i] == '-' ? text[i] == '-' : text[i] >= '0' && text[i] <= '9';
    }
    if (!fits) throw std::invalid_argument("'" + text + "' is no date (write 2026-10-01)");
    return text;
}

std::size_t parse_nights(const std::string& text) {
    const std::uint64_t nights = harness::parse_count(text);
    if (nights == 0 || nights > kMostNights) {
        throw std::invalid_argument("'" + text + "' is not within 1..1000000");
    }
    return static_cast<std::size_t>(nights);
}

}  // namespace

void HistoryFlags::add_to(CLI::App& app) {
    app.add_option("--since", since, "leave out nights before this day (UTC)")->type_name("DATE");
    app.add_option("--last", last, "only so many of the newest nights")->type_name("N");
    app.add_option("--accepted", accepted,
                   "changes that began on this day or before are known: no alarm")
        ->type_name("DATE");
    app.add_option("--margin", margin, "what is worse by less passes (1%)")->type_name("X|N%");
    app.add_option("--level", level,
                   "of one night's gate, all workloads together (0.002: up to 5% in 60 nights)")
        ->type_name("P");
    app.add_option("--look-back", look_back, "a step alarms for so many nights (30)")
        ->type_name("N");
    app.add_option("--window", window, "nights that steps are searched in (180)")->type_name("N");
}

reports::HistoryOptions HistoryFlags::parsed() const {
    reports::HistoryOptions options;
    const auto read = [](const char* option, const std::string& text, auto parse) {
        if (text.empty()) return;
        try {
            parse(text);
        } catch (const std::invalid_argument& error) {
            throw Failure(kUsage, std::string(option) + ": " + error.what());
        }
    };
    read("--since", since, [&](const std::string& text) { options.since = parse_date(text); });
    read("--last", last, [&](const std::string& text) { options.last = parse_nights(text); });
    read("--accepted", accepted,
         [&](const std::string& text) { options.accepted = parse_date(text); });
    read("--margin", margin, [&](const std::string& text) {
        options.gate.margin = harness::parse_fraction(text);
        if (!(options.gate.margin > 0 && options.gate.margin < 1)) {
            throw std::invalid_argument("'" + text + "' is not above 0 and below 100%");
        }
    });
    read("--level", level, [&](const std::string& text) {
        options.gate.level = harness::parse_number(text);
        if (!(options.gate.level > 0 && options.gate.level < 0.5)) {
            throw std::invalid_argument("'" + text + "' is not above 0 and below 0.5");
        }
    });
    read("--look-back", look_back, [&](const std::string& text) {
        options.gate.look_back = parse_nights(text);
        if (options.gate.look_back < options.gate.min_segment) {
            throw std::invalid_argument("'" + text + "': a step takes " +
                                        std::to_string(options.gate.min_segment) +
                                        " nights to be seen, so this gate could never fail");
        }
    });
    read("--window", window, [&](const std::string& text) {
        options.gate.window = parse_nights(text);
        if (options.gate.window < 2 * options.gate.min_segment || options.gate.window > 5000) {
            throw std::invalid_argument("'" + text + "' is not within " +
                                        std::to_string(2 * options.gate.min_segment) + "..5000");
        }
    });
    return options;
}

std::vector<std::string> history_failures(const reports::History& history,
                                          const HistoryGate& gate) {
    std::vector<std::string> failures;
    if (!gate.step && !gate.drop) return failures;
    if (history.workloads.empty()) failures.emplace_back("there is no night to judge");
    for (const reports::Alarm& alarm : history.alarms) {
        const bool step = alarm.kind == reports::Alarm::Kind::step;
        if (step ? gate.step : gate.drop) failures.push_back(reports::alarm_text(history, alarm));
    }
    return failures;
}

reports::History recorded_history(const datasets::Store& store, const std::string& name,
                                  const reports::HistoryOptions& options) {
    const auto all = store.experiments();
    reports::HistoryBuilder builder(all, name, options);
    for (const datasets::ExperimentRecord* record : builder.chosen())
        builder.add(*record, store.headlines(*record));
    reports::History history = builder.finish();
    const auto environment = [&](std::size_t night) {
        return store.find(std::to_string(history.nights[night].experiment)).environment;
    };
    for (reports::Alarm& alarm : history.alarms) {
        if (alarm.before) {
            reports::note_environment(alarm, environment(*alarm.before), environment(alarm.first));
        }
    }
    return history;
}

std::string history_page(const reports::History& history) {
    return reports::history_html(history, reports::gnuplot());
}

}  // namespace vsb::cli
