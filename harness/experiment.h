#pragma once
// An experiment: what is measured, how often, and where. A plain value, validated once by
// make_experiment(); nothing deeper sees a flag or a file.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cpus.h"

namespace vsb::harness {

// fixed: throughput with recv() of recv_bytes; matched: recv() of the payload's size; rtt:
// ping-pong; cycles: fixed, with the hardware counters of the RX worker.
enum class Kind : std::uint8_t { fixed, matched, rtt, cycles };
std::string_view kind_name(Kind kind);
Kind parse_kind(std::string_view name);  // throws std::invalid_argument naming the kinds

// How often a state is prepared anew: for every trial, whenever the state changes (by target guest:
// for each state of a pair, every workload in one boot), once for a run.
enum class Fresh : std::uint8_t { trial, state, run };
std::string_view fresh_name(Fresh fresh);
Fresh parse_fresh(std::string_view name);

// The factor on the published amount of work. An exception names a workload ("fixed/64B"), a kind
// ("rtt") or a payload ("64B"); the most exact one that matches decides, in this order.
struct BytesScale {
    double all = 1;
    std::vector<std::pair<std::string, double>> exceptions;

    bool operator==(const BytesScale&) const = default;
};

// How the guests of target `guest` run; "auto" leaves the choice to the kernel and the machine.
struct GuestMachine {
    std::string vmm = "auto";       // auto | uml | qemu
    std::string topology = "auto";  // auto | loopback | vhost-user | vhost | nested
    std::string clock = "wall";     // wall | exact
    std::string accel = "auto";     // auto | kvm | tcg

    bool operator==(const GuestMachine&) const = default;
};

// A parameter that takes several values within one experiment. Each value is a SPEC's: it is given
// to every state whose SPEC does not set the parameter itself.
struct Axis {
    std::string name;                 // "max-pkts"
    std::vector<std::string> values;  // as written, no two of one size: "64", "64K"

    bool operator==(const Axis&) const = default;
};

// One value of every axis.
using Point = std::vector<std::pair<std::string, std::string>>;

struct Experiment {
    std::string name = "run";
    std::string target = "engine";  // engine | host | guest | fake
    std::string a;                  // state SPECs, as given
    std::string b;
    std::int64_t pairs = 16;     // of each workload; even; the most there may be when planned
    double until_halfwidth = 0;  // as a fraction: pairs planned from a pilot (pilot.h); 0: no plan
    std::vector<std::uint64_t> payloads_bytes;
    std::vector<Kind> kinds;
    std::vector<Axis> over;            // at most two; every kind and payload runs at every point
    std::uint64_t recv_bytes = 65536;  // 0 where the system has no recv()
    BytesScale bytes_scale;
    std::uint64_t seed = 1;  // at most 2^63-1: the store's and TOML's integers are signed
    Fresh fresh = Fresh::state;
    CpuPlacement cpus;
    std::string endpoint = "unix";  // of the host target: unix | tcp | vsock
    std::string clock = "wall";     // wall | virtual (engine: a model) | exact (guest)
    // Of the virtual clock alone: CPUs that need not exist, how far prices are drawn from the list,
    // and the list, "NAME=NS,..." over the built-in one. As given it may also name files that
    // `calibrate` wrote; a run has them read (calibration.h's resolve_costs).
    std::uint64_t vcpus = 2;
    double jitter = 0.05;
    std::string costs;
    std::int64_t timeout_ns = 60'000'000'000;  // of one trial
    GuestMachine guest;
    std::string beside;  // a second method's intervals beside the headline's; empty: none

    bool operator==(const Experiment&) const = default;
};

// Nothing is measured: named costs are added up.
bool is_model(const Experiment& experiment);
// What the store calls the target: "model" for a model, so that no history, list or query takes its
// figures for measured ones.
std::string recorded_target(const Experiment& experiment);

// One row of the result: a kind at a payload, and at a point where there are axes.
struct Workload {
    std::string name;  // KIND/PAYLOAD: "fixed/64B"; with axes "fixed/64B/max-pkts=8,flows=2"
    Kind kind = Kind::fixed;
    std::uint64_t payload_bytes = 64;
    std::uint64_t recv_bytes = 65536;
    std::uint64_t writes = 1;  // of one trial; requests for rtt
    Point point = {};

    bool operator==(const Workload&) const = default;
};

// Every kind with every payload at every point, kinds outermost, in the order given.
std::vector<Workload> workloads_of(const Experiment& experiment);

// Every combination of the axes' values, the last axis fastest; one empty point without axes.
std::vector<Point> points_of(const std::vector<Axis>& axes);
// "max-pkts=8,flows=2".
std::string point_text(const Point& point);

// max(1, floor(scale * min(2^20, 2 GiB / payload))): the published transfer rule (64B/64M,
// 256B/256M, ..., capped at 2G from 4K on).
std::uint64_t writes_of(std::uint64_t payload_bytes, double scale);
// max(100, floor(scale * 10000)).
std::uint64_t requests_of(double scale);

inline constexpr std::int64_t kMaxPairs = 100'000;
inline constexpr std::uint64_t kMaxPayloadBytes = 1 << 20;
inline constexpr std::uint64_t kMaxSeed = ~std::uint64_t{0} >> 1;

}  // namespace vsb::harness
