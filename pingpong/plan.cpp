#include "pingpong/plan.h"

#include <stdexcept>

namespace vsb::pingpong {
namespace {

constexpr std::string_view kProtocol = "pingpong/1";

}  // namespace

transport::ControlMessage plan_message(const PingpongPlan& plan) {
    transport::ControlMessage message{"PLAN", {}};
    message.fields.add("protocol", kProtocol);
    message.fields.add("requests", plan.requests);
    message.fields.add("warmup", plan.warmup);
    message.fields.add("size", plan.size);
    message.fields.add("kind", transport::kind_name(plan.kind));
    if (!plan.nonce.empty()) message.fields.add("nonce", plan.nonce);
    return message;
}

PingpongPlan plan_of(const transport::ControlMessage& message) {
    const transport::Fields& fields = message.fields;
    if (fields.text("protocol") != kProtocol) {
        throw std::invalid_argument("the peer speaks " +
                                    transport::escape(fields.text("protocol")) + ", not " +
                                    std::string(kProtocol));
    }
    PingpongPlan plan;
    plan.requests = fields.number("requests");
    plan.warmup = fields.number("warmup");
    plan.size = fields.number("size");
    if (plan.size < 1 || plan.size > std::uint64_t{1} << 30) {
        throw std::invalid_argument("size: is out of range");
    }
    const std::string& kind = fields.text("kind");
    if (kind != "stream" && kind != "seqpacket") {
        throw std::invalid_argument("kind: is neither stream nor seqpacket");
    }
    plan.kind = kind == "stream" ? transport::Kind::stream : transport::Kind::seqpacket;
    if (const std::string* nonce = fields.find("nonce")) plan.nonce = *nonce;
    return plan;
}

}  // namespace vsb::pingpong
