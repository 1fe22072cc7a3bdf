#pragma once
// Experiments as TOML: read strictly, written with every key set.

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/settings.h"

namespace vsb::harness {

// Settings of a TOML text. Throws std::invalid_argument "<name>:<line>: key '<key>': <why>" for an
// unknown key, a wrong type or a bad value, and "<name>:<line>: <why>" for what is no TOML.
Settings parse_settings_toml(std::string_view text, const std::string& name);

// The file's text. Throws std::invalid_argument (no regular file, over 1 MiB) and
// std::system_error naming the file.
std::string read_settings_file(const std::filesystem::path& file);

// The experiment with every key set, one per line: what the store keeps and --resume reads back.
std::string experiment_toml(const Experiment& experiment);
Experiment parse_experiment_toml(std::string_view text, const std::string& name);

}  // namespace vsb::harness
