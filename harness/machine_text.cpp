#include "harness/machine_text.h"

#include <algorithm>
#include <vector>

#include "harness/cpus.h"
#include "harness/utf8.h"

namespace vsb::harness {
namespace {

constexpr std::size_t kMaxValueBytes = 2000;

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (!text.empty() && blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && blank(text.back()))
        text.remove_suffix(1);
    return text;
}

std::string value_or_unknown(std::string_view text) {
    text = trimmed(text).substr(0, kMaxValueBytes);
    // One line of valid text: these values go into reports.
    if (text.empty() || !is_utf8(text) || text.find('\n') != std::string_view::npos) {
        return std::string(kUnknown);
    }
    return std::string(text);
}

// The value of the first "key : value" line.
std::string_view field(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key) {
            return trimmed(line.substr(colon + 1));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
}

bool has_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1)) {
        const bool starts = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t';
        const std::size_t end = at + word.size();
        const bool ends = end == text.size() || text[end] == ' ' || text[end] == '\n';
        if (starts && ends) return true;
    }
    return false;
}

}  // namespace

std::string cpu_model(std::string_view cpuinfo) {
    if (const auto name = field(cpuinfo, "model name"); !name.empty()) {
        return value_or_unknown(name);
    }
    const auto implementer = field(cpuinfo, "CPU implementer");
    const auto part = field(cpuinfo, "CPU part");
    if (implementer.empty() || part.empty()) return std::string(kUnknown);
    return value_or_unknown("implementer " + std::string(implementer) + " part " +
                            std::string(part));
}

std::string cpus_allowed_list(std::string_view status) {
    return value_or_unknown(field(status, "Cpus_allowed_list"));
}

std::string load_average(std::string_view loadavg) {
    const std::string_view text = trimmed(loadavg);
    return value_or_unknown(text.substr(0, text.find(' ')));
}

std::string kernel_line(std::string_view ostype, std::string_view osrelease,
                        std::string_view machine) {
    if (trimmed(osrelease).empty()) return std::string(kUnknown);
    std::string line;
    for (const std::string_view part : {ostype, osrelease, machine}) {
        const std::string_view word = trimmed(part);
        if (word.empty()) continue;
        if (!line.empty()) line += ' ';
        line += word;
    }
    return value_or_unknown(line);
}

std::string governor_line(const std::map<int, std::string>& governors) {
    std::map<std::string, std::vector<int>> cpus_by_governor;
    for (const auto& [cpu, governor] : governors) {
        cpus_by_governor[value_or_unknown(governor)].push_back(cpu);
    }
    if (cpus_by_governor.empty()) return "none (no cpufreq)";
    if (cpus_by_governor.size() == 1) return cpus_by_governor.begin()->first;
    std::string line;
    for (const auto& [governor, cpus] : cpus_by_governor) {
        if (!line.empty()) line += "; ";
        line += governor + ": " + cpu_list_text(cpus);
    }
    return line;
}

std::string turbo_line(std::string_view no_turbo, std::string_view boost) {
    if (const auto off = trimmed(no_turbo); !off.empty()) {
        return off == "0" ? "on" : off == "1" ? "off" : std::string(kUnknown);
    }
    if (const auto on = trimmed(boost); !on.empty()) {
        return on == "1" ? "on" : on == "0" ? "off" : std::string(kUnknown);
    }
    return std::string(kUnknown);
}

std::string smt_line(std::string_view active, std::string_view control) {
    const auto flag = trimmed(active);
    std::string state = flag == "1" ? "on" : flag == "0" ? "off" : std::string(kUnknown);
    const auto how = trimmed(control);
    if (how.empty() || how == state) return state;
    return state + " (" + value_or_unknown(how) + ")";
}

std::string mitigations_line(const std::map<std::string, std::string>& vulnerabilities,
                             std::string_view cmdline) {
    std::string line;
    const auto add = [&](const std::string& item) {
        if (!line.empty()) line += "; ";
        line += item;
    };
    if (has_word(cmdline, "mitigations=off")) add("mitigations=off");
    for (const auto& [name, text] : vulnerabilities) {
        if (trimmed(text) != "Not affected") add(name + ": " + value_or_unknown(text));
    }
    if (line.empty()) return vulnerabilities.empty() ? std::string(kUnknown) : "none needed";
    return line;
}

std::string virtualization_line(std::string_view cpuinfo, std::string_view dmi_vendor,
                                std::string_view dmi_product, std::string_view hypervisor_type) {
    std::string line;
    const auto add = [&](std::string_view item) {
        item = trimmed(item);
        if (item.empty()) return;
        if (!line.empty()) line += ", ";
        line += value_or_unknown(item);
    };
    if (has_word(field(cpuinfo, "flags"), "hypervisor")) add("hypervisor flag set");
    add(hypervisor_type);
    if (line.empty()) return "none seen";
    add(dmi_vendor);
    add(dmi_product);
    return line;
}

}  // namespace vsb::harness
