#pragma once
// The tools' option parser: --name VALUE, --name=VALUE, --flag, unique abbreviations, in any order.
// No short options and no operands. Parsing is pure; every error is a UsageError that starts with
// the option's name.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/endpoint.h"

namespace vsb::transport {

class Options {
  public:
    // `apply` may throw std::invalid_argument: the option's name is put before its text.
    void value(std::string name, std::string placeholder, std::string help,
               std::function<void(std::string_view)> apply);
    void flag(std::string name, std::string help, std::function<void()> apply);

    // Common kinds of values. Targets must outlive parse().
    void size(std::string name, std::string help, std::uint64_t& target, std::uint64_t low,
              std::uint64_t high);
    void size(std::string name, std::string help, std::optional<std::uint64_t>& target,
              std::uint64_t low, std::uint64_t high);
    void number(std::string name, std::string help, std::uint64_t& target, std::uint64_t low,
                std::uint64_t high);
    void seconds(std::string name, std::string help, std::uint64_t& target_ns);
    void flag(std::string name, std::string help, bool& target);
    void choice(std::string name, std::string help, std::vector<std::string> choices,
                std::function<void(std::size_t)> apply);

    // `args` without the program's name.
    void parse(std::span<const std::string> args) const;

    // One line an option, in the order they were added.
    std::string help() const;

  private:
    struct Option {
        std::string name;  // without dashes
        std::string placeholder;
        std::string help;
        bool takes_value = false;
        std::function<void(std::string_view)> apply;
    };
    const Option& find(std::string_view name) const;
    std::vector<Option> options_;
};

// "1,3" -> {1, 3}: CPUs 0 to 65535. Throws std::invalid_argument.
std::vector<int> parse_cpus(std::string_view text);

}  // namespace vsb::transport
