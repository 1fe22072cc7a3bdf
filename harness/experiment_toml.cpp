#include "harness/experiment_toml.h"

#include <toml++/toml.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "harness/toml_text.h"
#include "harness/value_text.h"

namespace vsb::harness {
namespace {

constexpr std::uintmax_t kMaxFileBytes = 1 << 20;

std::string key_list() {
    std::string list;
    for (const Key& key : keys()) {
        if (!list.empty()) list += ", ";
        list += key.name;
    }
    return list;
}

std::string type_list(unsigned types) {
    std::string list;
    const auto add = [&](unsigned type, const char* name) {
        if ((types & type) == 0) return;
        if (!list.empty()) list += " or ";
        list += name;
    };
    add(kString, "a string");
    add(kInteger, "a whole number");
    add(kFloat, "a number");
    add(kArray, "an array");
    add(kTable, "a table");
    return list;
}

// One scalar as the text an option would have. A value of another type is an error.
std::string scalar_text(const toml::node& node, unsigned types) {
    if (const auto* text = node.as_string(); text != nullptr && (types & kString) != 0) {
        return text->get();
    }
    if (const auto* number = node.as_integer(); number != nullptr && (types & kInteger) != 0) {
        return std::to_string(number->get());
    }
    if (const auto* number = node.as_floating_point(); number != nullptr && (types & kFloat) != 0) {
        return number_text(number->get());
    }
    throw std::invalid_argument("must be " + type_list(types));
}

std::string value_text(const toml::node& node, unsigned types) {
    std::string text;
    if (const auto* array = node.as_array(); array != nullptr && (types & kArray) != 0) {
        for (const toml::node& item : *array) {
            const std::string one = scalar_text(item, kString | kInteger);
            if (one.find(',') != std::string::npos) {
                throw std::invalid_argument("an item of the array holds a comma");
            }
            if (!text.empty()) text += ',';
            text += one;
        }
        return text;
    }
    if (const auto* table = node.as_table(); table != nullptr && (types & kTable) != 0) {
        for (const auto& [name, item] : *table) {
            const std::string key(name.str());
            if (key.find_first_of(",=") != std::string::npos) {
                throw std::invalid_argument("a name in the table holds ',' or '='");
            }
            if (!text.empty()) text += ',';
            text += key + '=' + scalar_text(item, kInteger | kFloat);
        }
        return text;
    }
    return scalar_text(node, types);
}

std::string at(const std::string& name, const toml::source_region& where) {
    return name + ":" + std::to_string(where.begin.line) + ": ";
}

}  // namespace

std::string toml_string(std::string_view text) {
    static constexpr char kHex[] = "0123456789ABCDEF";
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            quoted += "\\u00";
            quoted += kHex[byte >> 4];
            quoted += kHex[byte & 15];
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

Settings parse_settings_toml(std::string_view text, const std::string& name) {
    toml::table table;
    try {
        table = toml::parse(text);
    } catch (const toml::parse_error& error) {
        throw std::invalid_argument(at(name, error.source()) + std::string(error.description()));
    }
    Settings settings;
    for (const auto& [word, node] : table) {
        const std::string place =
            at(name, word.source()) + "key '" + std::string(word.str()) + "': ";
        const Key* key = find_key(word.str());
        if (key == nullptr) {
            throw std::invalid_argument(place + "unknown (choose from " + key_list() + ")");
        }
        try {
            key->set(settings, value_text(node, key->toml_types));
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(place + error.what());
        }
    }
    return settings;
}

std::string read_settings_file(const std::filesystem::path& file) {
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (!std::filesystem::exists(status)) {
        throw std::system_error(ENOENT, std::generic_category(), file.string());
    }
    if (!std::filesystem::is_regular_file(status)) {
        throw std::invalid_argument(file.string() + ": not a regular file");
    }
    if (std::filesystem::file_size(file) > kMaxFileBytes) {
        throw std::invalid_argument(file.string() + ": larger than 1 MiB");
    }
    std::ifstream in(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw std::system_error(EIO, std::generic_category(), file.string());
    return text;
}

std::string experiment_toml(const Experiment& experiment) {
    std::string text;
    for (const Key& key : keys()) {
        text += std::string(key.name) + " = " + key.toml(experiment) + "\n";
    }
    return text;
}

Experiment parse_experiment_toml(std::string_view text, const std::string& name) {
    return make_experiment(parse_settings_toml(text, name));
}

}  // namespace vsb::harness
