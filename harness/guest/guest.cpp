#include "harness/guest/guest.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>

#include "harness/guest/orders.h"
#include "transport/fields.h"

namespace vsb::guest {
namespace {

using transport::ControlMessage;

constexpr std::size_t kMaxWarnings = 20;
constexpr std::size_t kMaxOutput = 32 << 20;
constexpr std::size_t kMaxConsole = 16 << 20;  // far above a boot with every message shown
constexpr std::uint64_t kStopNs = 2'000'000'000;
constexpr std::uint64_t kDrainNs = 300'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

// A file that a machine appends to and we read: the read end and the write end.
std::pair<Fd, Fd> channel_file(const std::string& path) {
    Fd writer(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    Fd reader(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!writer || !reader) throw std::system_error(errno, std::generic_category(), path);
    return {std::move(reader), std::move(writer)};
}

void set_nonblocking(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

std::string seconds(std::uint64_t ns) {
    std::string text = std::to_string(ns / (kSecond / 10));
    text.insert(text.size() - 1, text.size() == 1 ? "0." : ".");
    return text + " s";
}

// A guest's text within a message of ours: one line, printable, short.
std::string quote(const std::string& text) {
    return "'" + transport::escape(text.substr(0, 200)) + "'";
}

}  // namespace

std::string_view fault_name(Fault fault) {
    switch (fault) {
        case Fault::kernel:
            return "kernel fault";
        case Fault::ended:
            return "machine ended";
        case Fault::silent:
            return "silent";
        case Fault::chatter:
            return "printing without progress";
        case Fault::garbage:
            return "garbage from the agent";
        case Fault::flood:
            return "flood on the console";
        case Fault::interrupted:
            return "interrupted";
    }
    return "";
}

Guest::Guest(const GuestSetup& setup, const std::function<bool()>& stop) : setup_(setup) {
    const std::uint64_t started = monotonic_ns();
    spawn();
    boot(stop, started);
}

Guest::Guest(const GuestSetup& setup, const std::function<bool()>& stop, Guest& outer,
             const std::vector<std::string>& argv, Fd channel, Fd console)
    : setup_(setup), channel_(std::move(channel)), console_end_(std::move(console)) {
    const std::uint64_t started = monotonic_ns();
    set_nonblocking(channel_.get());
    set_nonblocking(console_end_.get());
    outer_ = &outer;
    outer_run_ = outer.start(argv);
    boot(stop, started);
}

void Guest::boot(const std::function<bool()>& stop, std::uint64_t started) {
    last_print_ns_ = last_progress_ns_ = started;
    for (std::uint64_t id = 1; id <= setup_.ordered_programs; ++id)
        running_[id];
    try {
        wait_for_hello(stop);
    } catch (GuestFailure& failure) {
        failure.console = console_.text();
        failure.booting = true;
        throw;
    }
    boot_ns_ = monotonic_ns() - started;
    if (has_orders()) return;
    for (const auto& [name, value] : setup_.sysctls)
        say(set_order(name, value));
}

Guest::~Guest() {
    kill_machine();
}

void Guest::kill_machine() {
    if (machine_) machine_->kill();
    if (outer_ == nullptr || machine_ended()) return;
    try {
        outer_->kill(outer_run_);
    } catch (const std::exception&) {
        // The outer guest is lost, and this one with it.
    }
}

// Of a guest that is a program of the outer one.
bool Guest::machine_ended() const {
    return outer_ != nullptr && (!outer_->alive_ || outer_->finished_.contains(outer_run_));
}

std::string Guest::machine_end() {
    std::optional<ExitStatus> status;
    std::string said;
    if (machine_) {
        status = machine_->wait(kStopNs);
    } else if (const auto run = outer_->finished_.find(outer_run_);
               run != outer_->finished_.end()) {
        status = ExitStatus{run->second.status, run->second.signal};
        if (!run->second.output.empty()) said = "; it said " + quote(run->second.output);
    }
    if (!status) return "its channel closed";
    std::string how = describe(*status);
    if (setup_.kernel.vmm == Vmm::qemu && status->signal == 0 &&
        qemu_exit(status->status).end == QemuEnd::panic && !console_.last_line().empty()) {
        how += ", a panic";
    }
    return how + said;
}

void Guest::spawn() {
    auto [ours, theirs] =
        has_orders() ? channel_file(setup_.scratch + "/channel") : make_socket_pair();
    auto [console_read, console_write] = make_pipe();
    SpawnPlan plan;
    plan.working_directory = setup_.scratch;
    plan.environment = {"TMPDIR=" + setup_.scratch};
    const auto fill = [this](BootPlan& boot) {
        boot.initrd = setup_.initrd;
        boot.cmdline = setup_.cmdline;
        boot.memory_mib = setup_.memory_mib;
        boot.cpus = setup_.cpus;
        boot.topology = setup_.topology;
        boot.vhost_socket = setup_.vhost_socket;
        boot.cid = setup_.cid;
    };
    if (setup_.kernel.vmm == Vmm::uml) {
        UmlPlan boot;
        fill(boot);
        boot.program = setup_.kernel.image.string();
        boot.directory = setup_.scratch;
        plan.argv = uml_argv(boot);
        plan.fds = {
            {theirs.get(), boot.channel_fd}, {console_write.get(), 1}, {console_write.get(), 2}};
    } else {
        QemuPlan boot;
        fill(boot);
        boot.program = setup_.qemu;
        boot.kernel = setup_.kernel.image.string();
        boot.accel = setup_.accel;
        boot.clock = setup_.clock;
        boot.seed = setup_.seed;
        boot.hypervisor = setup_.hypervisor;
        constexpr int kFirstPort = 5;
        for (const SerialPort& port : setup_.ports) {
            const int number = kFirstPort + static_cast<int>(boot.ports.size());
            boot.ports.push_back({port.name, number});
            plan.fds.emplace_back(port.fd, number);
        }
        plan.argv = qemu_argv(boot);
        plan.fds.insert(plan.fds.end(), {{theirs.get(), boot.channel_fd},
                                         {console_write.get(), boot.console_fd},
                                         {console_write.get(), 1},
                                         {console_write.get(), 2}});
    }
    machine_ = std::make_unique<Child>(plan);
    channel_ = std::move(ours);
    console_end_ = std::move(console_read);
    set_nonblocking(channel_.get());
    set_nonblocking(console_end_.get());
}

void Guest::wait_for_hello(const std::function<bool()>& stop) {
    const std::uint64_t started = monotonic_ns();
    while (!hello_) {
        poll_once(50);
        if (hello_) break;
        check();
        if (stop && stop()) throw GuestFailure(Fault::interrupted, "interrupted");
        if (monotonic_ns() - started >= setup_.boot_ns) {
            fail_for_want_of_progress("booting", started);
        }
    }
}

void Guest::poll_once(int wait_ms) {
    // A file is always readable: it is looked at every time instead.
    const bool is_file = has_orders();
    std::array<pollfd, 3> fds{pollfd{channel_open_ && !is_file ? channel_.get() : -1, POLLIN, 0},
                              pollfd{console_end_.get(), POLLIN, 0},
                              pollfd{machine_ ? machine_->pidfd() : -1, POLLIN, 0}};
    const int ready = poll(fds.data(), fds.size(), wait_ms);
    if (ready > 0) {
        if (fds[1].revents != 0) read_console();
        if (fds[0].revents != 0) read_agent();
        if (fds[2].revents != 0) alive_ = false;
    }
    if (is_file) {
        while (read_agent()) {
        }
    }
    if (outer_ != nullptr) {
        outer_->poll_once(0);
        if (machine_ended()) alive_ = false;
    }
}

void Guest::read_console() {
    std::array<char, 65536> block{};
    const ssize_t n = read(console_end_.get(), block.data(), block.size());
    if (n == 0) console_end_.reset();
    if (n <= 0) return;
    console_.feed({block.data(), static_cast<std::size_t>(n)});
    last_print_ns_ = monotonic_ns();
}

// True when there was something.
bool Guest::read_agent() {
    std::array<char, 65536> block{};
    const ssize_t n = read(channel_.get(), block.data(), block.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n <= 0) {
        channel_open_ = has_orders() && n == 0;  // a file's end is where it is now
        return false;
    }
    if (!lines_.feed({block.data(), static_cast<std::size_t>(n)})) {
        garbage_ = "a line without end";
        channel_open_ = false;
        return false;
    }
    std::string line;
    while (garbage_.empty() && lines_.next(line)) {
        try {
            take(transport::parse_message(line));
        } catch (const std::exception& error) {
            garbage_ = error.what();
        }
    }
    return true;
}

void Guest::take(const ControlMessage& message) {
    const transport::Fields& fields = message.fields;
    const auto run = [&]() -> GuestRun& {
        const auto at = running_.find(fields.number("id"));
        if (at == running_.end()) throw std::invalid_argument("a run that was not started");
        return at->second;
    };
    if (message.verb == "HELLO") {
        if (fields.number("version") != 1) throw std::invalid_argument("another version");
        release_ = decode_text(fields.text("release")).substr(0, 100);
        cpus_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(fields.number("cpus"), 1024));
        hello_ = true;
    } else if (message.verb == "WARN") {
        if (warnings_.size() < kMaxWarnings) {
            warnings_.push_back(transport::escape(decode_text(fields.text("text")).substr(0, 300)));
        }
    } else if (message.verb == "STARTED") {
        run();
    } else if (message.verb == "LINE" || message.verb == "FILE") {
        std::string& to = message.verb == "LINE" ? run().output : run().file;
        const std::string text = decode_text(fields.text("text"));
        if (to.size() + text.size() > kMaxOutput) throw std::invalid_argument("too much output");
        to += text;
    } else if (message.verb == "END") {
        GuestRun& one = run();
        for (const auto& [key, value] : fields.all()) {
            const double number = fields.real(key);
            if (key == "status") one.status = static_cast<int>(number);
            if (key == "signal") one.signal = static_cast<int>(number);
            if (key != "status" && key != "signal" && key != "id") one.counters[key] = number;
        }
        finished_[fields.number("id")] = std::move(one);
        running_.erase(fields.number("id"));
    } else {
        throw std::invalid_argument("the word " + message.verb);
    }
}

// Takes what is left after a failure: the fault on the console is worth more than a lost
// connection.
void Guest::drain() {
    const std::uint64_t until = monotonic_ns() + kDrainNs;
    while (console_end_ && monotonic_ns() < until) {
        pollfd one{console_end_.get(), POLLIN, 0};
        if (poll(&one, 1, 50) > 0) {
            read_console();
        } else if (!alive_) {
            break;
        }
    }
    console_.finish();
}

void Guest::check() {
    if (outer_ != nullptr && outer_->alive_) {
        try {
            outer_->check();
        } catch (const GuestFailure& failure) {
            throw GuestFailure(failure.fault(),
                               std::string("the guest that is the host: ") + failure.what());
        }
    }
    if (!console_.fatal().empty() || !alive_ || !garbage_.empty() || !channel_open_) drain();
    if (!console_.fatal().empty()) {
        throw GuestFailure(Fault::kernel, "the guest's kernel reported " + quote(console_.fatal()));
    }
    if (!garbage_.empty()) {
        throw GuestFailure(Fault::garbage, "the guest's agent speaks garbage: " +
                                               transport::escape(garbage_.substr(0, 200)));
    }
    if (console_.bytes() > kMaxConsole) {
        // Printing takes the CPUs of what is measured, and nobody reads so much.
        throw GuestFailure(Fault::flood, "the guest printed more than " +
                                             std::to_string(kMaxConsole >> 20) +
                                             " MiB on its console");
    }
    if (alive_ && channel_open_) return;
    const std::string how = machine_end();
    const std::string last = console_.last_line();
    throw GuestFailure(Fault::ended, "the guest ended by itself (" + how + ")" +
                                         (last.empty() ? "" : "; its last line: " + quote(last)));
}

void Guest::fail_for_want_of_progress(const std::string& phase, std::uint64_t since_ns) {
    const std::uint64_t now = monotonic_ns();
    const std::string waited = seconds(now - since_ns);
    // Somebody who printed within the last two seconds is not silent.
    if (now - last_print_ns_ < 2 * kSecond) {
        throw GuestFailure(Fault::chatter, "the guest prints without getting on (" + phase + ", " +
                                               waited + ", " + std::to_string(console_.lines()) +
                                               " lines, the last " + quote(console_.last_line()) +
                                               ")");
    }
    throw GuestFailure(Fault::silent, "the guest is silent (" + phase + ", " + waited +
                                          ", nothing printed for " + seconds(now - last_print_ns_) +
                                          ")");
}

std::string Guest::look(int wait_ms, std::uint64_t progress) {
    try {
        poll_once(wait_ms);
        check();
        const std::uint64_t now = monotonic_ns();
        if (progress != progress_) {
            progress_ = progress;
            last_progress_ns_ = now;
        }
        if (now - last_progress_ns_ >= setup_.stall_ns) {
            fail_for_want_of_progress("a trial", last_progress_ns_);
        }
    } catch (const GuestFailure& failure) {
        return failure.what();
    }
    return {};
}

void Guest::say(const ControlMessage& message) {
    say(transport::format_message(message));
}

void Guest::say(const std::string& line) {
    std::size_t done = 0;
    const std::uint64_t until = monotonic_ns() + kStopNs;
    while (done < line.size()) {
        const ssize_t n =
            send(channel_.get(), line.data() + done, line.size() - done, MSG_NOSIGNAL);
        if (n > 0) done += static_cast<std::size_t>(n);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            channel_open_ = false;
            check();
        }
        if (done == line.size()) return;
        pollfd one{channel_.get(), POLLOUT, 0};
        poll(&one, 1, 50);
        if (monotonic_ns() >= until) {
            throw GuestFailure(Fault::silent, "the guest's agent takes no orders");
        }
    }
}

std::uint64_t Guest::start(const std::vector<std::string>& argv, const std::string& file) {
    const std::uint64_t id = next_id_++;
    const std::string order = start_order(id, argv, file);
    running_[id];
    last_progress_ns_ = monotonic_ns();
    progress_ = 0;
    say(order);
    return id;
}

std::vector<GuestRun> Guest::finish_orders(std::uint64_t deadline_ns,
                                           const std::function<bool()>& stop) {
    const std::uint64_t started = monotonic_ns();
    while (alive_) {
        poll_once(50);
        if (alive_) check();
        if (stop && stop()) throw GuestFailure(Fault::interrupted, "interrupted");
        if (monotonic_ns() >= deadline_ns) fail_for_want_of_progress("its orders", started);
    }
    poll_once(0);  // what it wrote last
    const auto status = machine_->wait(kStopNs);
    const QemuExit end = qemu_exit(status ? status->status : 0);
    drain();
    std::vector<GuestRun> runs;
    for (std::uint64_t id = 1; id <= setup_.ordered_programs; ++id) {
        const auto at = finished_.find(id);
        const bool good = end.end == QemuEnd::reported && end.status == 1 && garbage_.empty() &&
                          console_.fatal().empty();
        if (!good || at == finished_.end()) check();  // throws: it is not alive
        runs.push_back(std::move(at->second));
        finished_.erase(at);
    }
    return runs;
}

GuestRun Guest::finish(std::uint64_t id, std::uint64_t deadline_ns,
                       const std::function<bool()>& stop) {
    const std::uint64_t started = monotonic_ns();
    for (;;) {
        if (const auto at = finished_.find(id); at != finished_.end()) {
            GuestRun run = std::move(at->second);
            finished_.erase(at);
            return run;
        }
        poll_once(50);
        check();
        if (stop && stop()) throw GuestFailure(Fault::interrupted, "interrupted");
        if (monotonic_ns() >= deadline_ns) fail_for_want_of_progress("a program's end", started);
    }
}

void Guest::kill(std::uint64_t id) {
    ControlMessage message{"KILL", {}};
    message.fields.add("id", id);
    say(message);
}

void Guest::pin_interrupts(int cpu) {
    ControlMessage message{"PIN", {}};
    message.fields.add("cpu", static_cast<std::uint64_t>(cpu));
    say(message);
}

void Guest::misbehave(const std::string& how) {
    ControlMessage message{"MISBEHAVE", {}};
    message.fields.add("how", how);
    say(message);
}

void Guest::shut_down() {
    try {
        if (alive_ && hello_ && channel_open_ && garbage_.empty() && !has_orders()) {
            say(stop_order());
            const std::uint64_t until = monotonic_ns() + kStopNs;
            while (alive_ && monotonic_ns() < until)
                poll_once(50);
        }
    } catch (const std::exception&) {
        // It goes the hard way.
    }
    kill_machine();
    alive_ = false;
    drain();
}

}  // namespace vsb::guest
