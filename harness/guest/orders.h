#pragma once
// The lines that the harness says to a guest's agent (agent.h), with their newlines.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::guest {

std::string set_order(std::string_view name, std::string_view value);
// Throws std::invalid_argument: more than kMaxArguments, or a line over kMaxAgentLine.
std::string start_order(std::uint64_t id, const std::vector<std::string>& argv,
                        std::string_view file);
std::string wait_order(std::uint64_t id);
std::string spin_order(std::uint64_t ns);
std::string stop_order();  // in good order: status 1

}  // namespace vsb::guest
