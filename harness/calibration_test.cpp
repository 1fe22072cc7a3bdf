// The price list: what a file says, what overrules it, and that a machine's own prices are sane.
#include "harness/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <system_error>

#include "harness/cpus.h"
#include "harness/scratch_folder.h"

namespace vsb::harness {
namespace {

using engine::Cost;
using testing::HasSubstr;

Calibration sample() {
    Calibration calibration;
    calibration.measured = "2026-01-31T12:00:00Z";
    calibration.cpu_model = "A \"CPU\" \\ with\nodd text";
    calibration.kernel = "Linux 6.1";
    calibration.cpus = "0-1";
    calibration.load_of_others = 0.125;
    calibration.kernel_entry_ns = 250.5;
    for (const engine::CostInfo& info : engine::cost_table())
        calibration.costs.push_back({std::string(info.name), info.default_ns, {}, {}});
    calibration.costs[1] = {"wake", 1234.5678901, 1200.25, 1300.125};
    return calibration;
}

std::string refusal(const std::string& toml) {
    try {
        parse_calibration_toml(toml, "machine.toml");
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

std::string costs_refusal(const std::string& text) {
    try {
        resolve_costs(text);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Calibration, AFileReadsBackToTheLastDigit) {
    EXPECT_EQ(parse_calibration_toml(calibration_toml(sample()), "machine.toml"), sample());
}

TEST(Calibration, APersonMayChangeTheFile) {
    const Calibration calibration =
        parse_calibration_toml("[costs]\nkick = 2500\nwake = { ns = 7 }\n", "machine.toml");
    const engine::Costs costs = costs_of(calibration);
    engine::Costs expected = engine::default_costs();
    expected[Cost::kick] = 2500;
    expected[Cost::wake] = 7;
    EXPECT_EQ(costs, expected);
}

TEST(Calibration, AWrongFileIsRefusedByNameAndLine) {
    EXPECT_THAT(refusal("[costs]\n\nwakes = 3\n"), HasSubstr("machine.toml:3: cost 'wakes': "));
    EXPECT_THAT(refusal("[costs]\nwakes = 3\n"), HasSubstr("there is no cost 'wakes'"));
    EXPECT_THAT(refusal("[costs]\nwake = -1\n"), HasSubstr("machine.toml:2: cost 'wake': "));
    EXPECT_THAT(refusal("[costs]\nwake = 2e6\n"), HasSubstr("allowed are 0 to 1000000"));
    EXPECT_THAT(refusal("[costs]\nwake = nan\n"), HasSubstr("machine.toml:2: cost 'wake': "));
    EXPECT_THAT(refusal("[costs]\nwake = true\n"), HasSubstr("must be a number"));
    EXPECT_THAT(refusal("[costs]\nwake = { low = 1 }\n"), HasSubstr("has no key 'ns'"));
    EXPECT_THAT(refusal("[costs]\nwake = { ns = 1, low = 1 }\n"),
                HasSubstr("low and high go together"));
    EXPECT_THAT(refusal("[costs]\nwake = { ns = 1, mean = 1 }\n"), HasSubstr("unknown key 'mean'"));
    EXPECT_THAT(refusal("wake = 3\n"), HasSubstr("has no table [costs]"));
    EXPECT_THAT(refusal("[costs\n"), HasSubstr("machine.toml:1: "));
}

TEST(Calibration, LaterItemsOfAPriceListWin) {
    const ScratchFolder folder;
    const std::string file = folder.write("machine.toml", calibration_toml(sample())).string();
    EXPECT_EQ(resolve_costs("").costs, engine::default_costs());
    EXPECT_THAT(resolve_costs("").source, HasSubstr("built-in"));
    EXPECT_FALSE(resolve_costs("wake=3").calibrated);

    const PriceList measured = resolve_costs(file);
    EXPECT_TRUE(measured.calibrated);
    EXPECT_EQ(measured.costs[Cost::wake], 1234.5678901);
    EXPECT_THAT(measured.source, HasSubstr("calibrated 2026-01-31T12:00:00Z on A \"CPU\""));
    EXPECT_THAT(measured.source, HasSubstr("not measured there: system_call, wake_latency"));

    const PriceList after = resolve_costs(file + ",wake=3,kick=1.5");
    EXPECT_EQ(after.costs[Cost::wake], 3);
    EXPECT_EQ(after.costs[Cost::kick], 1.5);
    EXPECT_THAT(after.source, HasSubstr("given by hand: wake=3, kick=1.5"));
    EXPECT_EQ(resolve_costs("wake=3," + file).costs[Cost::wake], 1234.5678901);

    // What a run stores is a list without files, and means the same.
    EXPECT_EQ(resolve_costs(costs_text(after.costs)).costs, after.costs);

    EXPECT_THAT(costs_refusal("wake=-1"), HasSubstr("the cost wake is -1"));
    EXPECT_THAT(costs_refusal("wakes=1"), HasSubstr("there is no cost 'wakes'"));
    EXPECT_NE(costs_refusal("wake=1x"), "accepted");
    EXPECT_NE(costs_refusal("wake=1,,kick=2"), "accepted");
    EXPECT_THROW(resolve_costs(folder.file("nowhere.toml").string()), std::system_error);
}

// Of this machine: what can be measured is, within what any machine takes; what user space cannot
// charge keeps its place.
TEST(CalibrationHost, MeasuresWhatUserSpaceCanCharge) {
    const auto allowed = allowed_cpus();
    const int second = allowed.size() > 1 ? allowed[1] : allowed[0];
    const Calibration calibration = measure_costs(allowed[0], second);
    ASSERT_EQ(calibration.costs.size(), engine::kCosts);
    EXPECT_NO_THROW(engine::check_costs(costs_of(calibration)));
    for (std::size_t i = 0; i < engine::kCosts; ++i) {
        const CostEstimate& cost = calibration.costs[i];
        EXPECT_EQ(cost.name, engine::cost_table()[i].name);
        if (!cost.measured()) continue;
        EXPECT_LE(*cost.low_ns, cost.ns) << cost.name;
        EXPECT_GE(*cost.high_ns, cost.ns) << cost.name;
    }
    for (const Cost cost : {Cost::lock, Cost::lookup, Cost::packet, Cost::compare_byte, Cost::spin})
        EXPECT_TRUE(calibration.costs[static_cast<std::size_t>(cost)].measured());
    for (const Cost cost : {Cost::system_call, Cost::kick, Cost::interrupt}) {
        EXPECT_FALSE(calibration.costs[static_cast<std::size_t>(cost)].measured());
        EXPECT_EQ(calibration.costs[static_cast<std::size_t>(cost)].ns, 0);
    }
}

TEST(CalibrationHost, OneCpuLeavesWhatPassesBetweenTwo) {
    const int cpu = allowed_cpus().front();
    const Calibration calibration = measure_costs(cpu, cpu);
    for (const Cost cost :
         {Cost::wake, Cost::wake_latency, Cost::lock_handover, Cost::publish, Cost::copy_byte})
        EXPECT_FALSE(calibration.costs[static_cast<std::size_t>(cost)].measured());
    EXPECT_TRUE(calibration.costs[static_cast<std::size_t>(Cost::lock)].measured());
}

}  // namespace
}  // namespace vsb::harness
