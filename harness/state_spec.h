#pragma once
// A state as users write it: k=v,k=v ("policy=lock-batch,max-pkts=64"); `\,` is a literal comma.
// What the keys mean is the target's business.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/experiment.h"

namespace vsb::harness {

struct StateSpec {
    std::vector<std::pair<std::string, std::string>> items;  // in the order written

    // The value of a key, or nullptr.
    const std::string* find(std::string_view key) const;
};

// An empty text is a state without items. Throws std::invalid_argument: an item without '=', an
// empty key or value, a key given twice that is not among `repeatable`.
StateSpec parse_state_spec(std::string_view text,
                           std::span<const std::string_view> repeatable = {});

// The SPEC with the point's values for those keys that it does not set itself, appended. Throws as
// parse_state_spec().
std::string state_at_point(std::string_view spec, const Point& point);

// The text that parses to this spec.
std::string state_spec_text(const StateSpec& spec);

}  // namespace vsb::harness
