#include "transport/plan.h"

#include <algorithm>
#include <stdexcept>

namespace vsb::transport {
namespace {

constexpr std::string_view kProtocol = "stream/1";

std::uint64_t within(const Fields& fields, std::string_view key, std::uint64_t low,
                     std::uint64_t high) {
    const std::uint64_t value = fields.number(key);
    if (value < low || value > high) {
        throw std::invalid_argument(std::string(key) + ": " + std::to_string(value) +
                                    " is out of range");
    }
    return value;
}

}  // namespace

std::uint64_t share_of(std::uint64_t bytes, unsigned threads, unsigned index) {
    return bytes / threads + (index < bytes % threads ? 1 : 0);
}

ControlMessage plan_message(const StreamPlan& plan) {
    ControlMessage message{"PLAN", {}};
    message.fields.add("protocol", kProtocol);
    message.fields.add("bytes", plan.bytes);
    message.fields.add("warmup", plan.warmup_bytes);
    message.fields.add("write", plan.write_bytes);
    message.fields.add("seed", plan.seed);
    message.fields.add("threads", std::uint64_t{plan.threads});
    message.fields.add("kind", kind_name(plan.kind));
    if (!plan.nonce.empty()) message.fields.add("nonce", plan.nonce);
    return message;
}

StreamPlan plan_of(const ControlMessage& message) {
    const Fields& fields = message.fields;
    if (fields.text("protocol") != kProtocol) {
        throw std::invalid_argument("the peer speaks " + escape(fields.text("protocol")) +
                                    ", not " + std::string(kProtocol));
    }
    StreamPlan plan;
    plan.bytes = fields.number("bytes");
    plan.warmup_bytes = fields.number("warmup");
    plan.write_bytes = within(fields, "write", 1, std::uint64_t{1} << 30);
    plan.seed = fields.number("seed");
    plan.threads = static_cast<unsigned>(within(fields, "threads", 1, 1024));
    const std::string& kind = fields.text("kind");
    if (kind != "stream" && kind != "seqpacket") {
        throw std::invalid_argument("kind: is neither stream nor seqpacket");
    }
    plan.kind = kind == "stream" ? Kind::stream : Kind::seqpacket;
    if (const std::string* nonce = fields.find("nonce")) plan.nonce = *nonce;
    return plan;
}

void check_nonce(std::string_view nonce) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    };
    if (nonce.empty() || nonce.size() > 64 || !std::all_of(nonce.begin(), nonce.end(), allowed)) {
        throw std::invalid_argument("a nonce is 1 to 64 letters, digits, '-', '_' and '.'");
    }
}

}  // namespace vsb::transport
