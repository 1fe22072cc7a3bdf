#include "harness/guest/state.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <stdexcept>

#include "harness/state_spec.h"

namespace vsb::guest {
namespace {

constexpr std::array<std::string_view, 11> kKeys{"kernel", "modules",    "cmdline",   "pre",
                                                 "sysctl", "policy",     "burst",     "gap",
                                                 "l1",     "l1_modules", "l1_cmdline"};
constexpr std::array<std::string_view, 1> kRepeatable{"sysctl"};
constexpr std::size_t kMaxCmdline = 1024;  // the smallest COMMAND_LINE_SIZE there is has 2048

[[noreturn]] void reject(const std::string& key, const std::string& value, const std::string& why) {
    throw std::invalid_argument("guest state: " + key + "=" + value.substr(0, 200) + ": " + why);
}

std::uint64_t number(const std::string& key, const std::string& text, std::uint64_t low,
                     std::uint64_t high) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
        reject(key, text,
               "not a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return value;
}

// A sysctl's name becomes a path below /proc/sys in the guest.
bool sysctl_name(std::string_view name) {
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    };
    return !name.empty() && name.front() != '.' && name.back() != '.' &&
           name.find("..") == std::string_view::npos && std::ranges::all_of(name, good);
}

std::pair<std::string, std::string> sysctl(const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || !sysctl_name(text.substr(0, colon)) ||
        colon + 1 == text.size()) {
        reject("sysctl", text, "not KEY:VALUE, as in sysctl=net.core.rmem_max:1048576");
    }
    return {text.substr(0, colon), text.substr(colon + 1)};
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    if (words.empty()) reject("pre", text, "no command");
    return words;
}

Publication publication(const std::string& text) {
    for (const Publication one : {Publication::per_buffer, Publication::batched}) {
        if (text == publication_name(one)) return one;
    }
    reject("policy", text, "the device publishes per-buffer or batched");
}

}  // namespace

std::string_view publication_name(Publication publication) {
    return publication == Publication::per_buffer ? "per-buffer" : "batched";
}

GuestState parse_guest_state(std::string_view spec) {
    GuestState state;
    for (const auto& [key, value] : harness::parse_state_spec(spec, kRepeatable).items) {
        if (std::ranges::find(kKeys, key) == kKeys.end()) {
            reject(key, value,
                   "a guest's state has kernel, modules, cmdline, pre, sysctl, policy, burst, gap, "
                   "and "
                   "for topology nested l1, l1_modules, l1_cmdline");
        }
        if (std::ranges::any_of(value, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
            reject(key, "...", "a control character");
        }
        if (key == "kernel") state.kernel = value;
        if (key == "modules") state.modules = value;
        if (key == "cmdline") state.cmdline = value;
        if (key == "l1") state.l1_kernel = value;
        if (key == "l1_modules") state.l1_modules = value;
        if (key == "l1_cmdline") state.l1_cmdline = value;
        if (key == "pre") state.pre = words(value);
        if (key == "sysctl") state.sysctls.push_back(sysctl(value));
        if (key == "policy") state.policy.publication = publication(value);
        if (key == "burst") {
            state.policy.burst = static_cast<std::uint32_t>(number(key, value, 1, 1024));
        }
        if (key == "gap") state.policy.gap_ns = number(key, value, 0, 1'000'000'000);
    }
    for (const auto& [key, text] :
         {std::pair{"cmdline", state.cmdline}, std::pair{"l1_cmdline", state.l1_cmdline}}) {
        if (text.size() > kMaxCmdline) {
            reject(key, text, "longer than " + std::to_string(kMaxCmdline));
        }
    }
    return state;
}

}  // namespace vsb::guest
