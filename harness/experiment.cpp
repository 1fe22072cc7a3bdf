#include "harness/experiment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "transport/size.h"

namespace vsb::harness {
namespace {

constexpr std::array<std::string_view, 4> kKinds{"fixed", "matched", "rtt", "cycles"};
constexpr std::array<std::string_view, 3> kFresh{"trial", "state", "run"};

template <std::size_t N>
std::size_t index_of(const std::array<std::string_view, N>& names, std::string_view name,
                     const char* what) {
    const auto at = std::ranges::find(names, name);
    if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
    std::string choices;
    for (const std::string_view known : names) {
        if (!choices.empty()) choices += ", ";
        choices += known;
    }
    throw std::invalid_argument("'" + std::string(name) + "' is no " + what + " (choose from " +
                                choices + ")");
}

double scale_of(const BytesScale& scale, const std::string& workload, std::string_view kind,
                const std::string& payload) {
    for (const std::string_view wanted :
         {std::string_view(workload), kind, std::string_view(payload)}) {
        for (const auto& [name, factor] : scale.exceptions) {
            if (name == wanted) return factor;
        }
    }
    return scale.all;
}

}  // namespace

std::string_view kind_name(Kind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

Kind parse_kind(std::string_view name) {
    return static_cast<Kind>(index_of(kKinds, name, "workload"));
}

std::string_view fresh_name(Fresh fresh) {
    return kFresh[static_cast<std::size_t>(fresh)];
}

Fresh parse_fresh(std::string_view name) {
    return static_cast<Fresh>(index_of(kFresh, name, "freshness"));
}

bool is_model(const Experiment& experiment) {
    return experiment.clock == "virtual";
}

std::string recorded_target(const Experiment& experiment) {
    return is_model(experiment) ? "model" : experiment.target;
}

std::uint64_t writes_of(std::uint64_t payload_bytes, double scale) {
    const std::uint64_t published =
        std::min(std::uint64_t{1} << 20, (std::uint64_t{2} << 30) / payload_bytes);
    const double scaled = std::floor(scale * static_cast<double>(published));
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(scaled));
}

std::uint64_t requests_of(double scale) {
    return std::max<std::uint64_t>(100, static_cast<std::uint64_t>(std::floor(scale * 10000)));
}

std::vector<Point> points_of(const std::vector<Axis>& axes) {
    std::vector<Point> points{{}};
    for (const Axis& axis : axes) {
        std::vector<Point> longer;
        for (const Point& point : points) {
            for (const std::string& value : axis.values) {
                longer.push_back(point);
                longer.back().emplace_back(axis.name, value);
            }
        }
        points = std::move(longer);
    }
    return points;
}

std::string point_text(const Point& point) {
    std::string text;
    for (const auto& [name, value] : point)
        text += (text.empty() ? "" : ",") + name + "=" + value;
    return text;
}

std::vector<Workload> workloads_of(const Experiment& experiment) {
    std::vector<Workload> workloads;
    const std::vector<Point> points = points_of(experiment.over);
    workloads.reserve(experiment.kinds.size() * experiment.payloads_bytes.size() * points.size());
    for (const Kind kind : experiment.kinds) {
        for (const std::uint64_t payload : experiment.payloads_bytes) {
            const std::string size = transport::format_size(payload);
            Workload workload;
            workload.name = std::string(kind_name(kind)) + "/" + size;
            workload.kind = kind;
            workload.payload_bytes = payload;
            const bool own_size = kind == Kind::matched || kind == Kind::rtt;
            workload.recv_bytes = own_size ? payload : experiment.recv_bytes;
            const double scale =
                scale_of(experiment.bytes_scale, workload.name, kind_name(kind), size);
            workload.writes = kind == Kind::rtt ? requests_of(scale) : writes_of(payload, scale);
            for (const Point& point : points) {
                workloads.push_back(workload);
                if (point.empty()) continue;
                workloads.back().name += "/" + point_text(point);
                workloads.back().point = point;
            }
        }
    }
    return workloads;
}

}  // namespace vsb::harness
