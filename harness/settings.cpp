#include "harness/settings.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <stdexcept>

#include "engine/virtual/virtual_machine.h"
#include "harness/pilot.h"
#include "harness/schedule.h"
#include "harness/toml_text.h"
#include "harness/utf8.h"
#include "harness/value_text.h"
#include "transport/size.h"

namespace vsb::harness {
namespace {

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::size_t kMaxWorkloads = 1000;
constexpr std::size_t kMaxAxes = 2;
constexpr double kMaxScale = 1024;
constexpr std::array<std::string_view, 4> kTargets{"engine", "host", "guest", "fake"};

std::string text_of(std::string_view text) {
    if (text.size() > 4096) throw std::invalid_argument("is longer than 4096 bytes");
    if (text.find('\0') != std::string_view::npos) throw std::invalid_argument("holds a NUL");
    if (!is_utf8(text)) throw std::invalid_argument("is not UTF-8");
    return std::string(text);
}

template <typename T>
void refuse_repeats(const std::vector<T>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (std::find(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i), items[i]) !=
            items.begin() + static_cast<std::ptrdiff_t>(i)) {
            throw std::invalid_argument("an item is given twice");
        }
    }
}

std::uint64_t size_within(std::string_view text, std::uint64_t highest) {
    const std::uint64_t size = transport::parse_size(text);
    if (size == 0 || size > highest) {
        throw std::invalid_argument("'" + std::string(text) + "' is not within 1B.." +
                                    transport::format_size(highest));
    }
    return size;
}

double scale_factor(std::string_view text) {
    const double factor = parse_number(text);
    if (!(factor > 0 && factor <= kMaxScale)) {
        throw std::invalid_argument("'" + std::string(text) + "' is not above 0 and at most 1024");
    }
    return factor;
}

// A payload as options and reports write it: 64, 64B, 4K.
std::uint64_t payload_size(std::string_view text) {
    const bool bytes = text.size() > 1 && text.ends_with('B') && text[text.size() - 2] >= '0' &&
                       text[text.size() - 2] <= '9';
    return size_within(bytes ? text.substr(0, text.size() - 1) : text, kMaxPayloadBytes);
}

// "fixed/64B", "rtt" or "64" in one spelling, so that scale_of() can compare names.
std::string scale_exception(const std::string& name) {
    if (name == "all") return name;
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos) {
        const Kind kind = parse_kind(std::string_view(name).substr(0, slash));
        return std::string(kind_name(kind)) + "/" +
               transport::format_size(payload_size(std::string_view(name).substr(slash + 1)));
    }
    if (!name.empty() && name[0] >= '0' && name[0] <= '9') {
        return transport::format_size(payload_size(name));
    }
    return std::string(kind_name(parse_kind(name)));
}

BytesScale parse_scale(std::string_view text) {
    BytesScale scale;
    if (text.find('=') == std::string_view::npos) {
        scale.all = scale_factor(text);
        return scale;
    }
    for (const auto& [name, value] : split_assignments(text)) {
        const std::string exact = scale_exception(name);
        if (exact == "all") {
            scale.all = scale_factor(value);
            continue;
        }
        for (const auto& seen : scale.exceptions) {
            if (seen.first == exact) throw std::invalid_argument("'" + name + "' is given twice");
        }
        scale.exceptions.emplace_back(exact, scale_factor(value));
    }
    std::ranges::sort(scale.exceptions);  // one spelling of one meaning
    return scale;
}

std::string scale_toml(const BytesScale& scale) {
    if (scale.exceptions.empty()) return number_text(scale.all);
    std::string text = "{ all = " + number_text(scale.all);
    for (const auto& [name, factor] : scale.exceptions) {
        text += ", " + toml_string(name) + " = " + number_text(factor);
    }
    return text + " }";
}

std::vector<std::uint64_t> parse_payloads(std::string_view text) {
    std::vector<std::uint64_t> sizes;
    for (const std::string& item : split_list(text))
        sizes.push_back(payload_size(item));
    if (sizes.empty()) throw std::invalid_argument("names no payload");
    refuse_repeats(sizes);
    return sizes;
}

std::vector<Kind> parse_kinds(std::string_view text) {
    std::vector<Kind> kinds;
    for (const std::string& item : split_list(text))
        kinds.push_back(parse_kind(item));
    if (kinds.empty()) throw std::invalid_argument("names no workload");
    refuse_repeats(kinds);
    return kinds;
}

std::string array_toml(const std::vector<std::string>& items) {
    std::string text = "[";
    for (const std::string& item : items) {
        if (text.size() > 1) text += ", ";
        text += toml_string(item);
    }
    return text + "]";
}

std::string payloads_toml(const Experiment& experiment) {
    std::vector<std::string> sizes;
    for (const std::uint64_t payload : experiment.payloads_bytes) {
        sizes.push_back(transport::format_size(payload));
    }
    return array_toml(sizes);
}

std::string kinds_toml(const Experiment& experiment) {
    std::vector<std::string> names;
    for (const Kind kind : experiment.kinds)
        names.emplace_back(kind_name(kind));
    return array_toml(names);
}

bool is_parameter_name(std::string_view name) {
    return !name.empty() && name.size() <= 40 &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
               std::string_view::npos;
}

// "NAME=V1,V2,...,NAME2=V1,...": an item with '=' begins an axis.
std::vector<Axis> parse_axes(std::string_view text) {
    std::vector<Axis> axes;
    for (const std::string& item : split_list(text)) {
        const std::size_t equals = item.find('=');
        if (equals != std::string::npos) {
            axes.push_back({item.substr(0, equals), {}});
            const std::string& name = axes.back().name;
            if (!is_parameter_name(name)) {
                throw std::invalid_argument("'" + name + "' is no parameter's name");
            }
            if (name == "payload") {
                throw std::invalid_argument("payload is no parameter (give several payloads)");
            }
            if (std::ranges::count(axes, name, &Axis::name) > 1) {
                throw std::invalid_argument("'" + name + "' is given twice");
            }
        } else if (axes.empty()) {
            throw std::invalid_argument("'" + item + "' is not NAME=VALUE,VALUE,...");
        }
        Axis& axis = axes.back();
        const std::string value = equals == std::string::npos ? item : item.substr(equals + 1);
        const std::uint64_t size = transport::parse_size(value);
        for (const std::string& seen : axis.values) {
            if (transport::parse_size(seen) == size) {
                throw std::invalid_argument(axis.name + ": " + value + " is given twice");
            }
        }
        axis.values.push_back(value);
    }
    if (axes.size() > kMaxAxes) throw std::invalid_argument("takes two parameters at most");
    return axes;
}

std::string axes_text(const std::vector<Axis>& axes) {
    std::string text;
    for (const Axis& axis : axes) {
        text += (text.empty() ? "" : ",") + axis.name + "=";
        for (const std::string& value : axis.values)
            text += (&value == axis.values.data() ? "" : ",") + value;
    }
    return text;
}

// 0: the system has no recv() of its own.
std::uint64_t recv_size(std::string_view text) {
    return text == "0" ? 0 : size_within(text, 16 << 20);
}

void set_name(Settings& s, std::string_view text) {
    if (text.empty() || text.size() > kMaxNameBytes) {
        throw std::invalid_argument("a name has 1 to 200 bytes");
    }
    s.name = text_of(text);
}

void set_target(Settings& s, std::string_view text) {
    if (std::ranges::find(kTargets, text) == kTargets.end()) {
        throw std::invalid_argument("'" + std::string(text) +
                                    "' is no target (choose from engine, host, guest, fake)");
    }
    s.target = std::string(text);
}

void set_pairs(Settings& s, std::string_view text) {
    const std::uint64_t pairs = parse_count(text);
    if (pairs == 0 || pairs > kMaxPairs) {
        throw std::invalid_argument("'" + std::string(text) + "' is not within 1..100000");
    }
    s.pairs = static_cast<std::int64_t>(pairs);
}

void set_until_halfwidth(Settings& s, std::string_view text) {
    const double half_width = parse_fraction(text);
    if (!(half_width >= 0 && half_width <= 1)) {
        throw std::invalid_argument("'" + std::string(text) + "' is not within 0..100%");
    }
    s.until_halfwidth = half_width;
}

void set_seed(Settings& s, std::string_view text) {
    const std::uint64_t seed = parse_count(text);
    if (seed > kMaxSeed) {
        throw std::invalid_argument("'" + std::string(text) + "' is larger than 2^63-1");
    }
    s.seed = seed;
}

void set_endpoint(Settings& s, std::string_view text) {
    if (text != "unix" && text != "tcp" && text != "vsock") {
        throw std::invalid_argument("'" + std::string(text) +
                                    "' is no endpoint (choose from unix, tcp, vsock)");
    }
    s.endpoint = std::string(text);
}

std::string one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    if (std::ranges::find(words, text) != words.end()) return std::string(text);
    std::string list;
    for (const std::string_view word : words)
        list += (list.empty() ? "" : ", ") + std::string(word);
    throw std::invalid_argument("'" + std::string(text) + "' is not one of " + list);
}

void set_vcpus(Settings& s, std::string_view text) {
    const std::uint64_t cpus = parse_count(text);
    if (cpus == 0 || cpus > engine::VirtualMachine::kMostCpus) {
        throw std::invalid_argument("'" + std::string(text) + "' is not within 1.." +
                                    std::to_string(engine::VirtualMachine::kMostCpus));
    }
    s.vcpus = cpus;
}

void set_jitter(Settings& s, std::string_view text) {
    const double jitter = parse_fraction(text);
    if (!(jitter >= 0 && jitter <= 1)) {
        throw std::invalid_argument("'" + std::string(text) + "' is not within 0..100%");
    }
    s.jitter = jitter;
}

const std::array<Key, 24> kKeys{{
    {"name", "TEXT", "name of the experiment in the store and the reports", kString, set_name,
     [](const Experiment& e) { return toml_string(e.name); }},
    {"target", "engine|host|guest", "what is measured (engine)", kString, set_target,
     [](const Experiment& e) { return toml_string(e.target); }},
    {"a", "SPEC", "state A: KEY=VALUE,... (engine: policy=per-packet)", kString,
     [](Settings& s, std::string_view text) { s.a = text_of(text); },
     [](const Experiment& e) { return toml_string(e.a); }},
    {"b", "SPEC", "state B: KEY=VALUE,... (engine: policy=deferred-notify)", kString,
     [](Settings& s, std::string_view text) { s.b = text_of(text); },
     [](const Experiment& e) { return toml_string(e.b); }},
    {"pairs", "N", "pairs of each workload, rounded up to even (16)", kInteger, set_pairs,
     [](const Experiment& e) { return std::to_string(e.pairs); }},
    {"until_halfwidth", "X|N%",
     "as many pairs as a pilot of 20 asks for this half-width, at most --pairs (200)",
     kString | kInteger | kFloat, set_until_halfwidth,
     [](const Experiment& e) { return number_text(e.until_halfwidth); }},
    {"payloads", "SIZE,...", "payload sizes (64,256,512,1K,4K,8K,16K,64K)", kString | kArray,
     [](Settings& s, std::string_view text) { s.payloads = parse_payloads(text); }, payloads_toml},
    {"workload", "KIND,...", "of fixed, matched, rtt, cycles (fixed,matched,rtt)", kString | kArray,
     [](Settings& s, std::string_view text) { s.workload = parse_kinds(text); }, kinds_toml},
    {"over", "NAME=V1,V2,...",
     "run at every value of a parameter of the states' SPECs; also of two", kString,
     [](Settings& s, std::string_view text) { s.over = parse_axes(text); },
     [](const Experiment& e) { return toml_string(axes_text(e.over)); }},
    {"recv_size", "SIZE", "size given to recv() by fixed and cycles (64K)", kString | kInteger,
     [](Settings& s, std::string_view text) { s.recv_size = recv_size(text); },
     [](const Experiment& e) { return std::to_string(e.recv_bytes); }},
    {"bytes_scale", "X|NAME=X,...",
     "factor on the published transfer (1; guest: 1/64 to 1/16), also for one payload, kind or "
     "workload: 64B=0.1",
     kString | kInteger | kFloat | kTable,
     [](Settings& s, std::string_view text) { s.bytes_scale = parse_scale(text); },
     [](const Experiment& e) { return scale_toml(e.bytes_scale); }},
    {"seed", "N", "seed of the order and of the payload (drawn and recorded)", kInteger, set_seed,
     [](const Experiment& e) { return std::to_string(e.seed); }},
    {"fresh", "state|trial|run", "how often a state is prepared (a guest booted) anew (state)",
     kString, [](Settings& s, std::string_view text) { s.fresh = parse_fresh(text); },
     [](const Experiment& e) { return toml_string(fresh_name(e.fresh)); }},
    {"cpus", "ROLE=CPU,...", "receiver, worker, device, sender (receiver and worker apart)",
     kString | kTable,
     [](Settings& s, std::string_view text) { s.cpus = parse_cpu_placement(text); },
     [](const Experiment& e) { return toml_string(cpu_placement_text(e.cpus)); }},
    {"endpoint", "unix|tcp|vsock", "socket of the host target (unix)", kString, set_endpoint,
     [](const Experiment& e) { return toml_string(e.endpoint); }},
    {"vcpus", "N", "CPUs of the virtual clock, 1 to 64 (2)", kInteger, set_vcpus,
     [](const Experiment& e) { return std::to_string(e.vcpus); }},
    {"jitter", "X|N%", "how far the virtual clock draws a cost from its price (5%)",
     kString | kInteger | kFloat, set_jitter,
     [](const Experiment& e) { return number_text(e.jitter); }},
    {"costs", "FILE|NAME=NS,...",
     "prices of the virtual clock, later ones win (built-in; `calibrate` writes a file)",
     kString | kTable, [](Settings& s, std::string_view text) { s.costs = text_of(text); },
     [](const Experiment& e) { return toml_string(e.costs); }},
    {"timeout", "TIME", "longest a trial may take: 500ms, 60s, 2m (60s)",
     kString | kInteger | kFloat,
     [](Settings& s, std::string_view text) { s.timeout_ns = parse_duration_ns(text); },
     [](const Experiment& e) { return number_text(static_cast<double>(e.timeout_ns) / 1e9); }},
    {"vmm", "auto|uml|qemu", "guest: the machine (what the kernel is made for)", kString,
     [](Settings& s, std::string_view text) {
         s.vmm = one_of(text, {"auto", "uml", "qemu"});
     },
     [](const Experiment& e) { return toml_string(e.guest.vmm); }},
    {"topology", "auto|loopback|vhost-user|vhost|nested", "guest: the path (vhost-user)", kString,
     [](Settings& s, std::string_view text) {
         s.topology = one_of(text, {"auto", "loopback", "vhost-user", "vhost", "nested"});
     },
     [](const Experiment& e) { return toml_string(e.guest.topology); }},
    {"clock", "wall|virtual|exact",
     "real time; engine: virtual, named costs, a model; guest: exact, an instruction = 1 ns (wall)",
     kString,
     [](Settings& s, std::string_view text) {
         s.clock = one_of(text, {"wall", "virtual", "exact"});
     },
     [](const Experiment& e) { return toml_string(e.clock); }},
    {"accel", "auto|kvm|tcg", "guest: QEMU's accelerator (KVM where there is one)", kString,
     [](Settings& s, std::string_view text) {
         s.accel = one_of(text, {"auto", "kvm", "tcg"});
     },
     [](const Experiment& e) { return toml_string(e.guest.accel); }},
    {"beside", "METHOD", "a second method whose intervals stand beside the headline's (none)",
     kString, [](Settings& s, std::string_view text) { s.beside = text_of(text); },
     [](const Experiment& e) { return toml_string(e.beside); }},
}};

// Trials of a fraction of a second, so that a boot measures every payload in a few. Measured
// kernels separate by recv() counts, interrupts and switches long before a whole 2 GiB.
BytesScale guest_scale() {
    BytesScale scale;
    scale.all = 1.0 / 32;
    scale.exceptions = {
        {"64B", 1.0 / 16}, {"1K", 1.0 / 64}, {"256B", 1.0 / 64}, {"512B", 1.0 / 64}, {"rtt", 0.03}};
    std::ranges::sort(scale.exceptions);
    return scale;
}

template <typename T>
void take(std::optional<T>& base, const std::optional<T>& over) {
    if (over) base = over;
}

}  // namespace

std::span<const Key> keys() {
    return kKeys;
}

const Key* find_key(std::string_view name) {
    const auto at = std::ranges::find(kKeys, name, &Key::name);
    return at == kKeys.end() ? nullptr : &*at;
}

Settings merged(const Settings& base, const Settings& over) {
    Settings all = base;
    take(all.name, over.name);
    take(all.target, over.target);
    take(all.a, over.a);
    take(all.b, over.b);
    take(all.pairs, over.pairs);
    take(all.until_halfwidth, over.until_halfwidth);
    take(all.payloads, over.payloads);
    take(all.workload, over.workload);
    take(all.over, over.over);
    take(all.recv_size, over.recv_size);
    take(all.bytes_scale, over.bytes_scale);
    take(all.seed, over.seed);
    take(all.fresh, over.fresh);
    take(all.cpus, over.cpus);
    take(all.endpoint, over.endpoint);
    take(all.vmm, over.vmm);
    take(all.topology, over.topology);
    take(all.clock, over.clock);
    take(all.accel, over.accel);
    take(all.vcpus, over.vcpus);
    take(all.jitter, over.jitter);
    take(all.costs, over.costs);
    take(all.timeout_ns, over.timeout_ns);
    take(all.beside, over.beside);
    return all;
}

Experiment make_experiment(const Settings& settings) {
    if (!settings.seed) throw std::invalid_argument("seed: none is given");
    Experiment e;
    e.name = settings.name.value_or(e.name);
    e.target = settings.target.value_or(e.target);
    // The engine compares the stock path with the whole series unless told otherwise; the other
    // targets' states without a SPEC are the tools and the kernel as built: A/A.
    e.a = settings.a.value_or(e.target == "engine" ? "policy=per-packet" : "");
    e.b = settings.b.value_or(e.target == "engine" ? "policy=deferred-notify" : "");
    e.until_halfwidth = settings.until_halfwidth.value_or(e.until_halfwidth);
    const bool by_pilot = e.until_halfwidth > 0;
    e.pairs = even_pairs(settings.pairs.value_or(by_pilot ? kMostPlanned : e.pairs));
    if (by_pilot && e.pairs < kPilotPairs) {
        throw std::invalid_argument("until_halfwidth: its pilot alone takes " +
                                    std::to_string(kPilotPairs) + " pairs, and pairs allows " +
                                    std::to_string(e.pairs));
    }
    e.payloads_bytes = settings.payloads.value_or(
        std::vector<std::uint64_t>{64, 256, 512, 1024, 4096, 8192, 16384, 65536});
    e.kinds = settings.workload.value_or(std::vector<Kind>{Kind::fixed, Kind::matched, Kind::rtt});
    e.over = settings.over.value_or(e.over);
    e.recv_bytes = settings.recv_size.value_or(e.recv_bytes);
    e.bytes_scale =
        settings.bytes_scale.value_or(e.target == "guest" ? guest_scale() : BytesScale{});
    e.seed = *settings.seed;
    e.fresh = settings.fresh.value_or(e.fresh);
    e.cpus = settings.cpus.value_or(e.cpus);
    e.endpoint = settings.endpoint.value_or(e.endpoint);
    e.guest.vmm = settings.vmm.value_or(e.guest.vmm);
    e.guest.topology = settings.topology.value_or(e.guest.topology);
    e.guest.accel = settings.accel.value_or(e.guest.accel);
    e.beside = settings.beside.value_or(e.beside);
    e.clock = settings.clock.value_or(e.clock);
    e.vcpus = settings.vcpus.value_or(e.vcpus);
    e.jitter = settings.jitter.value_or(e.jitter);
    e.costs = settings.costs.value_or(e.costs);
    e.guest.clock = e.target == "guest" ? e.clock : e.guest.clock;
    if (e.clock == "exact" && e.target != "guest") {
        throw std::invalid_argument("clock: target " + e.target +
                                    " has no exact clock (guest has)");
    }
    if (is_model(e) && e.target != "engine") {
        throw std::invalid_argument("clock: target " + e.target +
                                    " has no virtual clock (engine has)");
    }
    if (!is_model(e) && (settings.vcpus || settings.jitter || settings.costs) && !settings.clock) {
        throw std::invalid_argument(
            "clock: vcpus, jitter and costs are the virtual clock's (add clock = virtual)");
    }
    e.timeout_ns = settings.timeout_ns.value_or(e.timeout_ns);
    if (e.recv_bytes == 0 && e.target != "engine" && e.target != "fake") {
        throw std::invalid_argument("recv_size: 0 is for engine systems without a recv()");
    }
    std::size_t workloads = e.kinds.size() * e.payloads_bytes.size();
    for (const Axis& axis : e.over)
        workloads *= axis.values.size();
    if (workloads > kMaxWorkloads) {
        throw std::invalid_argument((e.over.empty() ? "payloads" : "over") +
                                    std::string(": more than 1000 workloads"));
    }
    if (!e.over.empty() && e.target != "engine" && e.target != "fake") {
        throw std::invalid_argument("over: target " + e.target +
                                    " has no parameters to run over (engine has)");
    }
    return e;
}

}  // namespace vsb::harness
