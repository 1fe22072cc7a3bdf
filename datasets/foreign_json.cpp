#include "datasets/foreign_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/csv_fields.h"
#include "datasets/foreign_file.h"
#include "datasets/import_error.h"

namespace vsb::datasets {
namespace {

using nlohmann::json;

constexpr std::size_t kMostValues = 4'000'000;
constexpr std::size_t kLongestText = 4096;

std::string member_path(const std::string& path, const std::string& key) {
    const bool plain = !key.empty() && key.size() <= 64 && std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    });
    return plain ? path + "." + key : path + "[" + in_quotes(key) + "]";
}

// The library's own builder neither counts depth nor sees a key twice; its parser is iterative, so
// that what this one accepts is all that its recursive parts ever meet.
class Builder : public nlohmann::json_sax<json> {
  public:
    Builder(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    json take() { return std::move(root_); }

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t& /*text*/) override {
        return put(value);
    }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }  // no JSON text has it
    bool start_object(std::size_t /*size*/) override { return push(json::object()); }
    bool start_array(std::size_t /*size*/) override { return push(json::array()); }
    bool end_object() override { return pop(); }
    bool end_array() override { return pop(); }

    bool key(string_t& value) override {
        if (open_.back()->contains(value)) fail(member_path(path(), value), "it is there twice");
        key_ = std::move(value);
        return true;
    }

    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const nlohmann::detail::exception& error) override {
        const std::string_view before = text_.substr(0, position > 0 ? position - 1 : 0);
        const auto line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
        const auto newline = before.rfind('\n');
        const std::size_t column =
            before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
        fail_at(name_, line, std::to_string(column), "it is no JSON: " + reason(error.what()));
    }

  private:
    // What the library says, without its own position and without what it read.
    static std::string reason(std::string_view what) {
        if (what.find("number overflow") != std::string_view::npos) {
            return "a number that no double can hold";
        }
        const auto from = what.find(": ");
        if (from != std::string_view::npos) what.remove_prefix(from + 2);
        what = what.substr(0, what.find("; last read"));
        std::string shown;
        for (const char c : what.substr(0, 200))
            shown += c >= 0x20 && c < 0x7f ? c : '?';
        return shown;
    }

    std::string path() const {
        std::string path = "$";
        for (const std::string& step : steps_)
            path += step;
        return path;
    }

    [[noreturn]] void fail(const std::string& path, const std::string& why) const {
        throw ImportError(name_ + ": " + path + ": " + why);
    }

    json* place(json value) {
        if (++values_ > kMostValues) {
            fail(path(), "there are more than " + std::to_string(kMostValues) + " values");
        }
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        json& parent = *open_.back();
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        json& member = parent[key_];
        member = std::move(value);
        return &member;
    }

    bool put(json value) {
        place(std::move(value));
        return true;
    }

    bool push(json value) {
        if (open_.size() >= ForeignCaps::kDepth) {
            fail(path(), "it is nested deeper than " + std::to_string(ForeignCaps::kDepth));
        }
        std::string step;
        if (!open_.empty()) {
            step = open_.back()->is_array() ? "[" + std::to_string(open_.back()->size()) + "]"
                                            : member_path("", key_);
        }
        open_.push_back(place(std::move(value)));
        steps_.push_back(std::move(step));
        return true;
    }

    bool pop() {
        open_.pop_back();
        steps_.pop_back();
        return true;
    }

    std::string_view text_;
    const std::string& name_;
    json root_;
    std::vector<json*> open_;
    std::vector<std::string> steps_;
    std::string key_;
    std::size_t values_ = 0;
};

}  // namespace

JsonValue::JsonValue(const json& value, const std::string& name, std::string path)
    : value_(&value), name_(&name), path_(std::move(path)) {}

void JsonValue::fail(const std::string& why) const {
    throw ImportError(*name_ + ": " + path_ + ": " + why);
}

std::optional<JsonValue> JsonValue::find(const std::string& key) const {
    if (!value_->is_object()) fail("it is no object");
    const auto found = value_->find(key);
    if (found == value_->end()) return std::nullopt;
    return JsonValue(*found, *name_, member_path(path_, key));
}

JsonValue JsonValue::at(const std::string& key) const {
    auto found = find(key);
    if (!found) JsonValue(*value_, *name_, member_path(path_, key)).fail("it is missing");
    return *std::move(found);
}

std::vector<JsonValue> JsonValue::items() const {
    if (!value_->is_array()) fail("it is no array");
    std::vector<JsonValue> all;
    all.reserve(value_->size());
    for (std::size_t i = 0; i < value_->size(); ++i)
        all.emplace_back((*value_)[i], *name_, path_ + "[" + std::to_string(i) + "]");
    return all;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
    if (!value_->is_object()) fail("it is no object");
    std::vector<std::pair<std::string, JsonValue>> all;
    for (const auto& [key, value] : value_->items())
        all.emplace_back(key, JsonValue(value, *name_, member_path(path_, key)));
    return all;
}

bool JsonValue::is_number() const {
    return value_->is_number();
}

double JsonValue::not_negative() const {
    if (!value_->is_number()) fail("it is no number");
    const auto value = value_->get<double>();
    if (!std::isfinite(value) || value < 0) fail("it is no number from 0");
    return value;
}

double JsonValue::positive() const {
    const double value = not_negative();
    if (!(value > 0)) fail("it is not above zero: nothing was measured");
    return value;
}

std::int64_t JsonValue::whole() const {
    if (!value_->is_number_integer()) fail("it is no whole number");
    if (value_->is_number_unsigned() ? value_->get<std::uint64_t>() > INT64_MAX
                                     : value_->get<std::int64_t>() < 0) {
        fail("it is no whole number from 0 to 2^63 - 1");
    }
    return value_->get<std::int64_t>();
}

bool JsonValue::boolean() const {
    if (!value_->is_boolean()) fail("it is neither true nor false");
    return value_->get<bool>();
}

std::string JsonValue::text() const {
    if (!value_->is_string()) fail("it is no text");
    const auto& text = value_->get_ref<const std::string&>();
    if (text.empty()) fail("it is empty");
    if (text.size() > kLongestText) {
        fail("it is longer than " + std::to_string(kLongestText) + " bytes");
    }
    if (const auto why = text_fault(text)) fail(*why);
    return text;
}

JsonDocument::JsonDocument(std::string_view text, std::string name) : name_(std::move(name)) {
    if (text.size() > ForeignCaps::kBytes) {
        throw ImportError(name_ + ": the file is larger than " +
                          std::to_string(ForeignCaps::kBytes) + " bytes");
    }
    Builder builder(text, name_);
    json::sax_parse(text.begin(), text.end(), &builder);
    root_ = std::make_unique<json>(builder.take());
}

JsonDocument::~JsonDocument() = default;

JsonValue JsonDocument::root() const {
    return {*root_, name_, "$"};
}

}  // namespace vsb::datasets
