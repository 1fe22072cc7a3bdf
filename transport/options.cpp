#include "transport/options.h"

#include <stdexcept>

#include "transport/errors.h"
#include "transport/number.h"
#include "transport/size.h"

namespace vsb::transport {
namespace {

std::uint64_t size_within(std::string_view text, std::uint64_t low, std::uint64_t high) {
    const std::uint64_t size = parse_size(text);
    if (size < low || size > high) {
        throw std::invalid_argument("'" + std::string(text) + "' is not within " +
                                    format_size(low) + " to " + format_size(high));
    }
    return size;
}

}  // namespace

void Options::value(std::string name, std::string placeholder, std::string help,
                    std::function<void(std::string_view)> apply) {
    options_.push_back(
        {std::move(name), std::move(placeholder), std::move(help), true, std::move(apply)});
}

void Options::flag(std::string name, std::string help, std::function<void()> apply) {
    options_.push_back({std::move(name), "", std::move(help), false,
                        [apply = std::move(apply)](std::string_view) { apply(); }});
}

void Options::size(std::string name, std::string help, std::uint64_t& target, std::uint64_t low,
                   std::uint64_t high) {
    value(std::move(name), "SIZE", std::move(help),
          [&target, low, high](std::string_view text) { target = size_within(text, low, high); });
}

void Options::size(std::string name, std::string help, std::optional<std::uint64_t>& target,
                   std::uint64_t low, std::uint64_t high) {
    value(std::move(name), "SIZE", std::move(help),
          [&target, low, high](std::string_view text) { target = size_within(text, low, high); });
}

void Options::number(std::string name, std::string help, std::uint64_t& target, std::uint64_t low,
                     std::uint64_t high) {
    value(std::move(name), "N", std::move(help),
          [&target, low, high](std::string_view text) { target = parse_number(text, low, high); });
}

void Options::seconds(std::string name, std::string help, std::uint64_t& target_ns) {
    value(std::move(name), "SECONDS", std::move(help),
          [&target_ns](std::string_view text) { target_ns = parse_seconds(text); });
}

void Options::flag(std::string name, std::string help, bool& target) {
    flag(std::move(name), std::move(help), [&target] { target = true; });
}

void Options::choice(std::string name, std::string help, std::vector<std::string> choices,
                     std::function<void(std::size_t)> apply) {
    std::string placeholder;
    for (const std::string& one : choices) {
        placeholder += placeholder.empty() ? one : "|" + one;
    }
    value(std::move(name), placeholder, std::move(help),
          [choices = std::move(choices), placeholder,
           apply = std::move(apply)](std::string_view text) {
              for (std::size_t i = 0; i < choices.size(); ++i) {
                  if (choices[i] == text) return apply(i);
              }
              throw std::invalid_argument("'" + std::string(text.substr(0, 40)) + "' is none of " +
                                          placeholder);
          });
}

const Options::Option& Options::find(std::string_view name) const {
    const Option* found = nullptr;
    std::string candidates;
    for (const Option& option : options_) {
        if (option.name == name) return option;
        if (!name.empty() && option.name.starts_with(name)) {
            found = &option;
            candidates += (candidates.empty() ? "--" : ", --") + option.name;
        }
    }
    const std::string given = "--" + std::string(name.substr(0, 60));
    if (found == nullptr) throw UsageError(given + ": there is no such option (see --help)");
    if (candidates.find(',') != std::string::npos) {
        throw UsageError(given + ": may be any of " + candidates);
    }
    return *found;
}

void Options::parse(std::span<const std::string> args) const {
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string_view arg = args[i];
        if (!arg.starts_with("--") || arg.size() == 2) {
            throw UsageError(std::string(arg.substr(0, 60)) +
                             ": is no option (options start with two dashes; see --help)");
        }
        const auto equals = arg.find('=');
        const Option& option = find(arg.substr(2, equals == arg.npos ? arg.npos : equals - 2));
        std::string_view value;
        if (option.takes_value) {
            if (equals != std::string_view::npos) {
                value = arg.substr(equals + 1);
            } else if (i + 1 < args.size()) {
                value = args[++i];
            } else {
                throw UsageError("--" + option.name + ": its value is missing");
            }
        } else if (equals != std::string_view::npos) {
            throw UsageError("--" + option.name + ": takes no value");
        }
        try {
            option.apply(value);
        } catch (const UsageError&) {
            throw;
        } catch (const std::invalid_argument& error) {
            throw UsageError("--" + option.name + ": " + error.what());
        }
    }
}

std::string Options::help() const {
    constexpr std::size_t kColumn = 34;
    std::string out;
    for (const Option& option : options_) {
        std::string line = "  --" + option.name;
        if (option.takes_value) line += " " + option.placeholder;
        if (line.size() + 2 > kColumn) {
            out += line + "\n" + std::string(kColumn, ' ');
        } else {
            out += line + std::string(kColumn - line.size(), ' ');
        }
        out += option.help + "\n";
    }
    return out;
}

std::vector<int> parse_cpus(std::string_view text) {
    std::vector<int> cpus;
    for (;;) {
        const auto comma = text.find(',');
        cpus.push_back(static_cast<int>(parse_number(text.substr(0, comma), 0, 65535)));
        if (comma == std::string_view::npos) return cpus;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace vsb::transport
