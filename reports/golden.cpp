#include "reports/golden.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace vsb::reports {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

// Lines by place, not a longest common subsequence: enough to see what changed.
std::string diff(const std::string& wanted, const std::string& got) {
    const auto a = lines_of(wanted);
    const auto b = lines_of(got);
    std::size_t head = 0;
    while (head < a.size() && head < b.size() && a[head] == b[head])
        ++head;
    std::size_t tail = 0;
    while (tail < a.size() - head && tail < b.size() - head &&
           a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
        ++tail;
    }
    std::string out = "@@ line " + std::to_string(head + 1) + " @@\n";
    for (std::size_t i = head; i < a.size() - tail; ++i)
        out += "-" + a[i] + "\n";
    for (std::size_t i = head; i < b.size() - tail; ++i)
        out += "+" + b[i] + "\n";
    return out;
}

}  // namespace

std::string golden_diff(const std::string& name, const std::string& text) {
    const auto file = std::filesystem::path(VSB_SOURCE_DIR) / "reports" / "golden" / name;
    const auto got = std::filesystem::path(file.string() + ".got");
    std::ifstream in(file, std::ios::binary);
    std::ostringstream wanted;
    wanted << in.rdbuf();
    if (in && wanted.str() == text) {
        std::filesystem::remove(got);
        return "";
    }
    std::ofstream(got, std::ios::binary) << text;
    return "differs from " + file.string() + "\n" + diff(wanted.str(), text);
}

}  // namespace vsb::reports
