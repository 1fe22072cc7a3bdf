#include "datasets/vsock_perf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>

#include "datasets/csv_fields.h"
#include "datasets/decimal.h"
#include "datasets/import_error.h"

namespace vsb::datasets {
namespace {

enum Slot : std::size_t {
    kWhere,
    kPlanned,
    kBuffer,
    kSocketBuffer,
    kLowWater,
    kBytes,
    kRate,
    kLoop,   // a sender's loop; older: named after write()
    kCalls,  // inside send() or read()
    kPerCall,
    kWakeups,
    kSlots
};
enum class Value : std::uint8_t { text, whole, real };

struct Line {
    bool sender;
    Slot slot;
    Value value;
    std::string_view before;
    std::string_view after;
};

constexpr std::array<Line, 17> kLines = {{
    {true, kWhere, Value::text, "Connect to ", ""},
    {true, kPlanned, Value::whole, "Send ", " bytes"},
    {true, kBuffer, Value::whole, "TX buffer ", " bytes"},
    {true, kBytes, Value::whole, "total bytes sent: ", ""},
    {true, kRate, Value::real, "tx performance: ", " Gbits/s"},
    {true, kLoop, Value::real, "total time in tx loop: ", " sec"},
    {true, kLoop, Value::real, "total time in 'write()': ", " sec"},
    {true, kCalls, Value::real, "time in 'send()': ", " sec"},
    {false, kWhere, Value::text, "Listen port ", ""},
    {false, kBuffer, Value::whole, "RX buffer ", " bytes"},
    {false, kSocketBuffer, Value::whole, "vsock buffer ", " bytes"},
    {false, kLowWater, Value::whole, "SO_RCVLOWAT ", " bytes"},
    {false, kBytes, Value::whole, "total bytes received: ", ""},
    {false, kRate, Value::real, "rx performance: ", " Gbits/s"},
    {false, kCalls, Value::real, "total time in 'read()': ", " sec"},
    {false, kPerCall, Value::real, "average time in 'read()': ", " ns"},
    {false, kWakeups, Value::whole, "POLLIN wakeups: ", ""},
}};
constexpr std::string_view kOldLoop = "total time in 'write()': ";

struct Run {
    bool sender = true;
    bool zerocopy = false;
    bool old = false;
    std::uint64_t line = 0;
    std::array<std::optional<double>, kSlots> values;
    std::array<std::uint64_t, kSlots> lines{};

    double at(Slot slot) const { return values.at(slot).value_or(0); }
    std::int64_t whole(Slot slot) const { return static_cast<std::int64_t>(at(slot)); }
};

bool is_echo(std::string_view line) {
    return line.empty() || line.starts_with("+ ") || line.starts_with("$ ") ||
           line.starts_with("# ");
}

class Reader {
  public:
    explicit Reader(const std::string& name) : name_(name) {}

    void take(const std::string& line, std::uint64_t number) {
        if (is_echo(line)) return;
        if (line == "Run as sender" || line == "Run as sender MSG_ZEROCOPY") {
            open(true, line.size() > sizeof("Run as sender"), number);
        } else if (line == "Run as receiver") {
            open(false, false, number);
        } else {
            fill(line, number);
        }
    }

    std::vector<Run> finish() {
        if (runs_.empty()) {
            throw ImportError(name_ +
                              ":1: column 1: there is no run (a line 'Run as sender' or 'Run as "
                              "receiver' starts one)");
        }
        for (Run& run : runs_)
            check(run);
        check_received();
        return std::move(runs_);
    }

  private:
    [[noreturn]] void fail(std::uint64_t line, const std::string& why, std::size_t column = 1) {
        fail_at(name_, line, std::to_string(column), why);
    }

    void open(bool sender, bool zerocopy, std::uint64_t number) {
        if (const Run* last = newest(sender)) check(*last);
        Run run;
        run.sender = sender;
        run.zerocopy = zerocopy;
        run.line = number;
        runs_.push_back(run);
    }

    Run* newest(bool sender) {
        for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
            if (run->sender == sender) return &*run;
        }
        return nullptr;
    }

    void fill(const std::string& line, std::uint64_t number) {
        for (const Line& form : kLines) {
            if (!line.starts_with(form.before) || !line.ends_with(form.after)) continue;
            if (line.size() < form.before.size() + form.after.size()) continue;
            Run* run = newest(form.sender);
            if (run == nullptr) {
                fail(number, std::string("a ") + (form.sender ? "sender" : "receiver") +
                                 "'s line, and no 'Run as' line before it");
            }
            if (run->values.at(form.slot)) {
                fail(number, "the run that starts on line " + std::to_string(run->line) +
                                 " has this already, on line " +
                                 std::to_string(run->lines.at(form.slot)));
            }
            const std::string_view text = std::string_view(line).substr(
                form.before.size(), line.size() - form.before.size() - form.after.size());
            run->values.at(form.slot) =
                form.value == Value::text
                    ? 0
                    : number_of(form.value, text, number, form.before.size() + 1);
            run->lines.at(form.slot) = number;
            run->old = run->old || form.before == kOldLoop;
            return;
        }
        fail(number, in_quotes(line) + " is no line of vsock_perf's");
    }

    double number_of(Value kind, std::string_view text, std::uint64_t line, std::size_t column) {
        constexpr std::int64_t kMost = std::int64_t{1} << 53U;  // exact in a double
        if (kind == Value::whole) {
            const auto value = whole_number(text);
            if (!value || *value > kMost) {
                fail(line, in_quotes(text) + " is no whole number up to 2^53", column);
            }
            return static_cast<double>(*value);
        }
        const auto value = finite_decimal(text);
        if (!value || *value < 0) fail(line, in_quotes(text) + " is no number from 0", column);
        return *value;
    }

    void need(const Run& run, Slot slot, const char* line) {
        if (run.values.at(slot)) return;
        fail(run.line, std::string("this run has no line '") + line + "' (was it cut off?)");
    }

    void check(const Run& run) {
        if (run.sender) {
            need(run, kPlanned, "Send");
            need(run, kBuffer, "TX buffer");
            need(run, kBytes, "total bytes sent");
            need(run, kRate, "tx performance");
            need(run, kLoop, "total time in tx loop");
            if (!run.old) need(run, kCalls, "time in 'send()'");
            if (run.at(kBytes) < run.at(kPlanned)) {
                fail(run.lines[kBytes], "fewer bytes were sent than asked for on line " +
                                            std::to_string(run.lines[kPlanned]));
            }
        } else {
            need(run, kBuffer, "RX buffer");
            need(run, kBytes, "total bytes received");
            need(run, kRate, "rx performance");
            need(run, kCalls, "total time in 'read()'");
            need(run, kPerCall, "average time in 'read()'");
            need(run, kWakeups, "POLLIN wakeups");
        }
        for (const Slot slot : {kBuffer, kBytes, kRate}) {
            if (run.at(slot) > 0) continue;
            fail(run.lines.at(slot), "it is zero: nothing was measured");
        }
    }

    // The k-th sender and the k-th receiver of one text are the two ends of one transfer.
    // vsock_perf's receiver may leave with data still queued, and exits with 0 all the same.
    void check_received() {
        std::vector<const Run*> senders;
        std::vector<const Run*> receivers;
        for (const Run& run : runs_)
            (run.sender ? senders : receivers).push_back(&run);
        if (senders.size() != receivers.size()) return;
        for (std::size_t i = 0; i < senders.size(); ++i) {
            if (receivers[i]->at(kBytes) == senders[i]->at(kBytes)) continue;
            fail(receivers[i]->lines[kBytes],
                 "received is not what was sent by line " +
                     std::to_string(senders[i]->lines[kBytes]) +
                     " (its receiver left early: such a run measures nothing)");
        }
    }

    std::string name_;
    std::vector<Run> runs_;
};

// Whether bytes and a printed time make the printed rate. Times have 6 decimals, rates too; the
// program calculates in single precision.
bool fits(double gbit_s, double bytes, double seconds) {
    constexpr double kHalfDigit = 0.5e-6;
    constexpr double kSingle = 1e-6;
    const double gbit = bytes * 8 / 1e9;
    return std::abs(gbit_s * seconds - gbit) <=
           gbit * kSingle + kHalfDigit * (gbit_s + seconds) + kHalfDigit * kHalfDigit;
}

// The rate over the sender's loop; in_send says that it is not the one printed.
double loop_rate(const Run& run, const std::string& name, bool& in_send) {
    const double bytes = run.at(kBytes);
    if (fits(run.at(kRate), bytes, run.at(kLoop))) return run.at(kRate);
    if (run.old || !fits(run.at(kRate), bytes, run.at(kCalls))) {
        fail_at(name, run.lines[kRate], "1",
                "the rate is that of no time printed with it (line " +
                    std::to_string(run.lines[kLoop]) + ")");
    }
    constexpr double kLeast = 1e-3;  // 0.05% of it is the last digit
    if (run.at(kLoop) < kLeast) {
        fail_at(name, run.lines[kLoop], "1",
                "the loop is too short for its rate to be taken from the time printed (send more: "
                "--bytes)");
    }
    in_send = true;
    return bytes * 8 / 1e9 / run.at(kLoop);
}

std::int64_t nanoseconds(double seconds) {
    constexpr double kMost = 1e9;  // thirty years
    return std::llround(std::min(seconds, kMost) * 1e9);
}

ForeignRun foreign(const Run& run, const std::string& name, bool& in_send) {
    ForeignRun out;
    WorkloadRecord& workload = out.workload;
    workload.kind = !run.sender ? "rx" : run.zerocopy ? "tx-zerocopy" : "tx";
    workload.name = workload.kind + "/" + payload_name(run.whole(kBuffer));
    if (run.sender) {
        workload.payload_bytes = run.whole(kBuffer);
        workload.writes = (run.whole(kBytes) + workload.payload_bytes - 1) / workload.payload_bytes;
        out.wall_time_ns = nanoseconds(run.at(kLoop));
        out.measurements = {{"throughput", "Gbit/s", loop_rate(run, name, in_send)},
                            {"loop_time", "s", run.at(kLoop)}};
        if (!run.old) out.measurements.push_back({"send_time", "s", run.at(kCalls)});
    } else {
        workload.recv_bytes = run.whole(kBuffer);
        out.wall_time_ns = nanoseconds(run.at(kBytes) * 8 / 1e9 / run.at(kRate));
        out.measurements = {{"throughput", "Gbit/s", run.at(kRate)},
                            {"read_time", "s", run.at(kCalls)},
                            {"read_mean", "ns", run.at(kPerCall)},
                            {"poll_wakeups", "1", run.at(kWakeups)}};
    }
    return out;
}

}  // namespace

ForeignFile read_vsock_perf(std::string_view text, const std::string& name) {
    std::istringstream in{std::string(text)};
    CsvLines lines(in, name,
                   {ForeignCaps::kBytes, ForeignCaps::kLines, ForeignCaps::kLineBytes, 0});
    Reader reader(name);
    std::string line;
    while (lines.next(line))
        reader.take(line, lines.number());
    ForeignFile file;
    file.format = "vsock_perf";
    bool in_send = false;
    for (const Run& run : reader.finish())
        file.runs.push_back(foreign(run, name, in_send));
    if (in_send) {
        file.notes.emplace_back(
            "tx performance is printed over the time inside send() alone; recorded is the rate "
            "over the whole tx loop");
    }
    return file;
}

}  // namespace vsb::datasets
