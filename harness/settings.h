#pragma once
// What a user asked for, key by key: from a preset, a TOML file, or options. Each key is the long
// option's name with '_' and is read from text by one function, so that a file and an option mean
// the same. Unset is not the same as the default: options override a preset's keys.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/experiment.h"

namespace vsb::harness {

struct Settings {
    std::optional<std::string> name;
    std::optional<std::string> target;
    std::optional<std::string> a;
    std::optional<std::string> b;
    std::optional<std::int64_t> pairs;
    std::optional<double> until_halfwidth;
    std::optional<std::vector<std::uint64_t>> payloads;
    std::optional<std::vector<Kind>> workload;
    std::optional<std::vector<Axis>> over;
    std::optional<std::uint64_t> recv_size;
    std::optional<BytesScale> bytes_scale;
    std::optional<std::uint64_t> seed;
    std::optional<Fresh> fresh;
    std::optional<CpuPlacement> cpus;
    std::optional<std::string> endpoint;
    std::optional<std::string> vmm;
    std::optional<std::string> topology;
    std::optional<std::string> clock;
    std::optional<std::string> accel;
    std::optional<std::uint64_t> vcpus;
    std::optional<double> jitter;
    std::optional<std::string> costs;
    std::optional<std::int64_t> timeout_ns;
    std::optional<std::string> beside;
};

// The TOML types a key may have, as a set of bits. An array holds strings or whole numbers and
// means its items parted by commas; a table's entries mean NAME=VALUE items.
enum TomlType : unsigned { kString = 1, kInteger = 2, kFloat = 4, kArray = 8, kTable = 16 };

struct Key {
    std::string_view name;     // "recv_size"
    std::string_view value;    // how --help shows the value: "SIZE"
    std::string_view summary;  // one line
    unsigned toml_types;
    // Throws std::invalid_argument saying what is wrong with the text; does not name the key.
    void (*set)(Settings& settings, std::string_view text);
    // The value in an experiment, as text that set() reads, and as a TOML value.
    std::string (*toml)(const Experiment& experiment);
};

// Every key there is.
std::span<const Key> keys();
const Key* find_key(std::string_view name);

// `over` where it says something, else `base`.
Settings merged(const Settings& base, const Settings& over);

// The experiment, defaults filled in, pairs rounded up to even, everything checked that does not
// need the target or the machine. Throws std::invalid_argument: "pairs: ...". A seed must be given.
Experiment make_experiment(const Settings& settings);

}  // namespace vsb::harness
