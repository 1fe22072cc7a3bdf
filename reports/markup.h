#pragma once
// For tests: reads HTML as our pages write it, and XML, strictly: every tag closed in order, every
// attribute quoted and given once, every '&' an entity, no raw control character.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::reports {

struct Element {
    std::string name;
    std::string parent;
    std::map<std::string, std::string> attributes;  // as written, entities and all
};

struct Markup {
    std::vector<Element> elements;  // as they open
    std::string error;              // empty: well formed
};

// void_elements: names that have no end tag ("meta" in HTML).
Markup read_markup(std::string_view text, const std::vector<std::string>& void_elements = {});

}  // namespace vsb::reports
