#include "harness/fake_target.h"

#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <stdexcept>

#include "harness/state_spec.h"
#include "harness/value_text.h"

namespace vsb::harness {
namespace {

struct FakeState {
    double level = 1;
    double noise = 0;
    std::int64_t fail_pair = 0;
    std::int64_t mismatch_pair = 0;
};

FakeState parse_state(const std::string& text) {
    FakeState state;
    for (const auto& [key, value] : parse_state_spec(text).items) {
        if (key == "level") {
            state.level = parse_number(value);
        } else if (key == "noise") {
            state.noise = parse_number(value);
        } else if (key == "fail-pair") {
            state.fail_pair = static_cast<std::int64_t>(parse_count(value) % (1U << 30));
        } else if (key == "mismatch-pair") {
            state.mismatch_pair = static_cast<std::int64_t>(parse_count(value) % (1U << 30));
        } else {
            std::string why = "state '";
            why.append(text).append("': '").append(key);
            why +=
                "' is unknown to the fake target (choose from level, noise, fail-pair, "
                "mismatch-pair)";
            throw std::invalid_argument(why);
        }
    }
    if (!(state.level > 0) || !(state.noise >= 0)) {
        throw std::invalid_argument("state '" + text + "': level is above 0, noise not below it");
    }
    return state;
}

// Different in every trial and the same in every repetition.
std::uint64_t draw_seed(const TrialRequest& request) {
    std::uint64_t seed = request.seed * 4 + request.state * 2 + request.attempt % 2;
    for (const char c : request.workload.name) {
        seed = seed * 1099511628211U + static_cast<unsigned char>(c);
    }
    return seed;
}

TrialResult rehearse(const FakeState& state, const TrialRequest& request) {
    TrialResult result;
    if (request.attempt == 1 && request.pair == state.fail_pair) {
        result.failure = "as scripted";
        return result;
    }
    const std::uint64_t planned = request.workload.writes * request.workload.payload_bytes;
    if (request.attempt == 1 && request.pair == state.mismatch_pair) {
        result.failure = "bytes differ: planned " + std::to_string(planned) + ", received " +
                         std::to_string(planned - 1);
        return result;
    }
    double value = state.level;
    if (state.noise > 0) {
        boost::random::mt19937_64 generator(draw_seed(request));
        boost::random::normal_distribution<double> normal(0, state.noise);
        value *= std::exp(normal(generator));
    }
    switch (request.workload.kind) {
        case Kind::fixed:
        case Kind::matched:
            result.measurements = {{"throughput", "Gbit/s", value},
                                   {"bytes_received", "B", static_cast<double>(planned)}};
            break;
        case Kind::rtt:
            result.measurements = {{"rtt_mean", "us", value}};
            break;
        case Kind::cycles:
            result.measurements = {{"cycles_per_byte", "cycles/B", value}};
            break;
    }
    return result;
}

}  // namespace

void FakeTarget::prepare(std::size_t state) {
    calls_.push_back(std::string("prepare ") + (state == 0 ? "A" : "B"));
}

TrialResult FakeTarget::run(const TrialRequest& request) {
    calls_.push_back("run " + request.workload.name + " " + std::to_string(request.pair) + " " +
                     (request.state == 0 ? "A" : "B"));
    return script_(request);
}

std::map<std::string, std::string> FakeTarget::describe() const {
    return {{"topology", "fake target: scripted numbers, nothing was measured"}};
}

void FakeTarget::stop() noexcept {
    try {
        calls_.emplace_back("stop");
    } catch (...) {
        return;  // a log without its last line
    }
}

FakeTarget::Script fake_script(const std::string& a, const std::string& b) {
    const std::array<std::string, 2> specs{a, b};
    for (const std::string& spec : specs)
        parse_state(spec);
    return [specs](const TrialRequest& request) {
        const std::string& spec = specs.at(request.state);
        return rehearse(parse_state(state_at_point(spec, request.workload.point)), request);
    };
}

}  // namespace vsb::harness
