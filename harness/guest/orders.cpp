#include "harness/guest/orders.h"

#include <stdexcept>

#include "harness/guest/agent.h"
#include "transport/control.h"

namespace vsb::guest {

using transport::ControlMessage;
using transport::format_message;

std::string set_order(std::string_view name, std::string_view value) {
    ControlMessage message{"SET", {}};
    message.fields.add("name", encode_text(name));
    message.fields.add("value", encode_text(value));
    return format_message(message);
}

std::string start_order(std::uint64_t id, const std::vector<std::string>& argv,
                        std::string_view file) {
    if (argv.empty() || argv.size() > kMaxArguments) {
        throw std::invalid_argument("a program of " + std::to_string(argv.size()) +
                                    " arguments cannot be ordered");
    }
    ControlMessage message{"START", {}};
    message.fields.add("id", id);
    if (!file.empty()) message.fields.add("file", encode_text(file));
    for (std::size_t i = 0; i < argv.size(); ++i)
        message.fields.add("a" + std::to_string(i), encode_text(argv[i]));
    std::string line = format_message(message);
    if (line.size() > kMaxAgentLine) throw std::invalid_argument("an order longer than a line");
    return line;
}

std::string wait_order(std::uint64_t id) {
    ControlMessage message{"WAIT", {}};
    message.fields.add("id", id);
    return format_message(message);
}

std::string spin_order(std::uint64_t ns) {
    ControlMessage message{"SPIN", {}};
    message.fields.add("ns", ns);
    return format_message(message);
}

std::string stop_order() {
    ControlMessage message{"STOP", {}};
    message.fields.add("status", std::uint64_t{1});
    return format_message(message);
}

}  // namespace vsb::guest
