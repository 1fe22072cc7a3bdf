#include "datasets/iperf3.h"

#include <chrono>

#include "datasets/foreign_json.h"
#include "datasets/import_error.h"
#include "datasets/utc.h"

namespace vsb::datasets {
namespace {

std::string protocol(const JsonValue& test) {
    const JsonValue value = test.at("protocol");
    const std::string text = value.text();
    if (text == "TCP") return "tcp";
    if (text == "UDP") return "udp";
    if (text == "SCTP") return "sctp";
    value.fail(in_quotes(text) + " is none of TCP, UDP and SCTP");
}

bool flag(const JsonValue& test, const std::string& key) {
    const auto value = test.find(key);
    return value && value->whole() != 0;
}

WorkloadRecord workload_of(const JsonValue& test) {
    WorkloadRecord workload;
    workload.kind = protocol(test);
    if (flag(test, "reverse")) workload.kind += "-reverse";
    const JsonValue streams = test.at("num_streams");
    if (streams.whole() < 1) streams.fail("there are none");
    if (streams.whole() > 1) workload.kind += "-" + std::to_string(streams.whole()) + "x";
    const JsonValue block = test.at("blksize");
    workload.payload_bytes = block.whole();
    if (workload.payload_bytes < 1) block.fail("it is zero");
    workload.name = workload.kind + "/" + payload_name(workload.payload_bytes);
    return workload;
}

std::string started(const JsonValue& start) {
    const JsonValue value = start.at("timestamp").at("timesecs");
    constexpr std::int64_t kMost = 7'258'118'399;  // the last second of 2199
    const std::int64_t seconds = value.whole();
    if (seconds > kMost) value.fail("it is past the year 2199");
    return utc(std::chrono::system_clock::time_point(std::chrono::seconds(seconds)));
}

}  // namespace

ForeignFile read_iperf3(std::string_view text, const std::string& name) {
    const JsonDocument document(text, name);
    const JsonValue root = document.root();
    if (const auto error = root.find("error")) {
        error->fail("iperf3 itself failed: " + in_quotes(error->text()));
    }
    const JsonValue start = root.at("start");
    const JsonValue test = start.at("test_start");
    if (flag(test, "bidir")) test.at("bidir").fail("a run in both directions is two measurements");
    ForeignRun run;
    run.workload = workload_of(test);
    run.started = started(start);

    const JsonValue end = root.at("end");
    const JsonValue received = end.at("sum_received");
    constexpr double kMostSeconds = 1e9;
    const JsonValue seconds = received.at("seconds");
    if (seconds.positive() > kMostSeconds) seconds.fail("it is longer than thirty years");
    run.wall_time_ns = static_cast<std::int64_t>(seconds.positive() * 1e9);
    run.measurements.push_back(
        {"throughput", "Gbit/s", received.at("bits_per_second").positive() / 1e9});
    if (const auto sent = end.find("sum_sent")) {
        if (const auto retransmits = sent->find("retransmits")) {
            run.measurements.push_back({"retransmits", "1", retransmits->not_negative()});
        }
    }
    for (const auto& [key, metric, unit] :
         {std::tuple{"jitter_ms", "jitter", "ms"}, {"lost_packets", "lost_packets", "1"}}) {
        if (const auto value = received.find(key)) {
            run.measurements.push_back({metric, unit, value->not_negative()});
        }
    }
    if (const auto cpu = end.find("cpu_utilization_percent")) {
        run.measurements.push_back({"cpu_local", "%", cpu->at("host_total").not_negative()});
        run.measurements.push_back({"cpu_remote", "%", cpu->at("remote_total").not_negative()});
    }

    ForeignFile file;
    file.format = "iperf3";
    file.environment["iperf3.version"] = start.at("version").text();
    if (const auto system = start.find("system_info")) {
        file.environment["iperf3.system"] = system->text();
    }
    file.runs.push_back(std::move(run));
    return file;
}

}  // namespace vsb::datasets
