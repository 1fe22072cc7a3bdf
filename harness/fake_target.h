#pragma once
// A target that measures nothing: a script gives every trial's result, exactly and without a clock.
// For tests of the runner, and for rehearsing a store, a report or a gate with numbers whose truth
// is known; its experiments carry the target "fake" wherever they are shown.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/target.h"

namespace vsb::harness {

class FakeTarget : public Target {
  public:
    using Script = std::function<TrialResult(const TrialRequest&)>;

    explicit FakeTarget(Script script, bool by_round = false)
        : script_(std::move(script)), by_round_(by_round) {}

    void prepare(std::size_t state) override;
    TrialResult run(const TrialRequest& request) override;
    bool serves_rounds() const override { return by_round_; }
    std::map<std::string, std::string> describe() const override;
    void stop() noexcept override;

    // What was asked of it, in order: "prepare A", "run fixed/64B 1 B", "stop".
    const std::vector<std::string>& calls() const { return calls_; }

  private:
    Script script_;
    bool by_round_;
    std::vector<std::string> calls_;
};

// The script of two state SPECs: level=NUMBER (headline of 64B: 1; fixed, matched in Gbit/s grow
// with it, rtt in us), noise=SD of the log (0; drawn from the trial's seed), fail-pair=N (that pair
// fails in this state on its first attempt), mismatch-pair=N (likewise, bytes differ).
// The value of an axis is taken by the states that do not set that key. Throws
// std::invalid_argument for anything else.
FakeTarget::Script fake_script(const std::string& a, const std::string& b);

}  // namespace vsb::harness
