#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "stats/comparison.h"

namespace vsb::stats {

namespace {

constexpr std::array<std::pair<Method, std::string_view>, 7> kMethods{{
    {Method::crossover_t, "crossover-t"},
    {Method::paired_t, "paired-t"},
    {Method::normal, "normal"},
    {Method::hodges_lehmann, "hodges-lehmann"},
    {Method::sign, "sign"},
    {Method::bca, "bca"},
    {Method::permutation, "permutation"},
}};

}  // namespace

std::string_view method_name(Method m) {
    for (const auto& [method, name] : kMethods) {
        if (method == m) return name;
    }
    throw std::invalid_argument("method: not one of the enumeration's values");
}

Method parse_method(std::string_view name) {
    std::string known;
    for (const auto& [method, known_name] : kMethods) {
        if (known_name == name) return method;
        known.append(known.empty() ? "" : ", ").append(known_name);
    }
    throw std::invalid_argument("method: unknown name '" + std::string(name) + "' (use one of " +
                                known + ")");
}

std::string_view verdict_name(Verdict v) {
    switch (v) {
        case Verdict::faster:
            return "faster";
        case Verdict::slower:
            return "slower";
        case Verdict::equivalent:
            return "equivalent";
        case Verdict::inconclusive:
            return "inconclusive";
    }
    throw std::invalid_argument("verdict: not one of the enumeration's values");
}

}  // namespace vsb::stats
