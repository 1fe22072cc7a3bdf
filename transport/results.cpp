#include "transport/results.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace vsb::transport {
namespace {

std::string quoted(std::string_view text) {
    // escape() leaves printable ASCII and "\xNN"; JSON wants the backslash doubled.
    std::string out = "\"";
    for (const char c : escape(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

}  // namespace

void Results::add(std::string_view key, std::string_view value, Type type) {
    fields_.add(key, value);
    types_.push_back(type);
}

void Results::text(std::string_view key, std::string_view value) {
    add(key, escape(value), Type::text);
}

void Results::count(std::string_view key, std::uint64_t value) {
    add(key, std::to_string(value), Type::number);
}

void Results::real(std::string_view key, double value) {
    if (!std::isfinite(value)) {
        throw std::invalid_argument(std::string(key) + ": is not a finite number");
    }
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    add(key, text, Type::number);
}

void Results::absent(std::string_view key, std::string_view reason) {
    add(std::string(key) + "_absent", escape(reason), Type::absent);
}

std::string Results::lines() const {
    std::string out;
    for (const auto& [key, value] : fields_.all())
        out.append(key).append("=").append(value).append("\n");
    return out + "status=ok\n";
}

std::string Results::json() const {
    std::string out = "{";
    std::size_t i = 0;
    for (const auto& [key, value] : fields_.all()) {
        const Type type = types_[i++];
        if (type == Type::absent) {
            out +=
                quoted(key.substr(0, key.size() - std::string_view("_absent").size())) + ": null, ";
        }
        // Values are escaped once already: only JSON's own quoting is left to do.
        std::string text = value;
        if (type != Type::number) {
            text = "\"";
            for (const char c : value) {
                if (c == '"' || c == '\\') text += '\\';
                text += c;
            }
            text += '"';
        }
        out += quoted(key) + ": " + text + ", ";
    }
    return out + "\"status\": \"ok\"}\n";
}

std::string failed_lines(std::string_view reason) {
    return "reason=" + escape(reason) + "\nstatus=failed\n";
}

std::string failed_json(std::string_view reason) {
    return "{\"reason\": " + quoted(reason) + ", \"status\": \"failed\"}\n";
}

ReadResults read_results(std::string_view text) {
    constexpr std::size_t kLongest = std::size_t{1} << 20;
    constexpr unsigned kMost = 1000;
    ReadResults results;
    unsigned number = 0;
    const auto reject = [&](const std::string& why) {
        throw std::invalid_argument("result line " + std::to_string(number) + ": " + why);
    };
    bool ended = false;
    while (!text.empty()) {
        ++number;
        if (ended) reject("follows the status");
        if (number > kMost) reject("too many lines");
        const auto end = text.find('\n');
        if (end == std::string_view::npos) reject("is cut short");
        if (end > kLongest) reject("is too long");
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) reject("has no '='");
        const auto key = line.substr(0, equals);
        const auto value = line.substr(equals + 1);
        if (value != escape(value) && value.find('\\') == std::string_view::npos) {
            reject("holds unprintable bytes");
        }
        if (key == "status") {
            if (value != "ok" && value != "failed") reject("status is neither ok nor failed");
            results.ok = value == "ok";
            ended = true;
            continue;
        }
        try {
            results.fields.add(key, value);
        } catch (const std::invalid_argument& error) {
            reject(error.what());
        }
    }
    if (!ended) throw std::invalid_argument("the results have no status: the tool did not finish");
    if (const std::string* reason = results.fields.find("reason")) results.reason = *reason;
    if (results.ok != results.reason.empty()) {
        throw std::invalid_argument(results.ok ? "the results have a reason and status=ok"
                                               : "the results have status=failed and no reason");
    }
    if (!results.ok) results.fields = {};
    return results;
}

}  // namespace vsb::transport
