#include "harness/state_spec.h"

#include <algorithm>
#include <stdexcept>

namespace vsb::harness {
namespace {

[[noreturn]] void reject(std::string_view text, const std::string& why) {
    throw std::invalid_argument("state '" + std::string(text.substr(0, 200)) + "': " + why);
}

}  // namespace

const std::string* StateSpec::find(std::string_view key) const {
    const auto at =
        std::ranges::find_if(items, [&](const auto& item) { return item.first == key; });
    return at == items.end() ? nullptr : &at->second;
}

StateSpec parse_state_spec(std::string_view text, std::span<const std::string_view> repeatable) {
    StateSpec spec;
    if (text.empty()) return spec;
    std::string item;
    const auto finish_item = [&] {
        const std::size_t equals = item.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == item.size()) {
            reject(text, "'" + item +
                             "' is not KEY=VALUE (items are parted by commas, a literal "
                             "comma is written \\,)");
        }
        std::string key = item.substr(0, equals);
        if (spec.find(key) != nullptr && std::ranges::find(repeatable, key) == repeatable.end()) {
            reject(text, "'" + key + "' is given twice");
        }
        spec.items.emplace_back(std::move(key), item.substr(equals + 1));
        item.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
            item += ',';
            ++i;
        } else if (text[i] == ',') {
            finish_item();
        } else {
            item += text[i];
        }
    }
    finish_item();
    return spec;
}

std::string state_at_point(std::string_view spec, const Point& point) {
    StateSpec all = parse_state_spec(spec);
    for (const auto& [name, value] : point) {
        if (all.find(name) == nullptr) all.items.emplace_back(name, value);
    }
    return state_spec_text(all);
}

std::string state_spec_text(const StateSpec& spec) {
    std::string text;
    for (const auto& [key, value] : spec.items) {
        if (!text.empty()) text += ',';
        text += key + '=';
        for (const char c : value) {
            if (c == ',') text += '\\';
            text += c;
        }
    }
    return text;
}

}  // namespace vsb::harness
