#include "harness/guest/guest.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "transport/fields.h"

namespace vsb::guest {
namespace {

using transport::ControlMessage;

constexpr std::size_t kMaxWarnings = 20;
constexpr std::size_t kMaxOutput = 32 << 20;
constexpr std::uint64_t kStopNs = 2'000'000'000;
constexpr std::uint64_t kDrainNs = 300'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

void set_nonblocking(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

std::string seconds(std::uint64_t ns) {
    std::string text = std::to_string(ns / (kSecond / 10));
    text.insert(text.size() - 1, text.size() == 1 ? "0." : ".");
    return text + " s";
}

// A guest's text within a message of ours: one line, printable, short.
std::string quoted(const std::string& text) {
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
        case Fault::interrupted:
            return "interrupted";
    }
    return "";
}

Guest::Guest(const GuestSetup& setup, const std::function<bool()>& stop) : setup_(setup) {
    const std::uint64_t started = monotonic_ns();
    last_print_ns_ = last_progress_ns_ = started;
    spawn();
    try {
        wait_for_hello(stop);
    } catch (GuestFailure& failure) {
        failure.console = console_.text();
        throw;
    }
    boot_ns_ = monotonic_ns() - started;
    for (const auto& [name, value] : setup_.sysctls) {
        ControlMessage message{"SET", {}};
        message.fields.add("name", encode_text(name));
        message.fields.add("value", encode_text(value));
        say(message);
    }
}

Guest::~Guest() {
    if (machine_) machine_->kill();
}

void Guest::spawn() {
    auto [ours, theirs] = make_socket_pair();
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
        plan.argv = qemu_argv(boot);
        plan.fds = {{theirs.get(), boot.channel_fd},
                    {console_write.get(), boot.console_fd},
                    {console_write.get(), 1},
                    {console_write.get(), 2}};
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
        check();
        if (stop && stop()) throw GuestFailure(Fault::interrupted, "interrupted");
        if (monotonic_ns() - started >= setup_.boot_ns) {
            fail_for_want_of_progress("booting", started);
        }
    }
}

void Guest::poll_once(int wait_ms) {
    std::array<pollfd, 3> fds{pollfd{channel_open_ ? channel_.get() : -1, POLLIN, 0},
                              pollfd{console_end_.get(), POLLIN, 0},
                              pollfd{machine_->pidfd(), POLLIN, 0}};
    if (poll(fds.data(), fds.size(), wait_ms) <= 0) return;
    if (fds[1].revents != 0) read_console();
    if (fds[0].revents != 0) read_agent();
    if (fds[2].revents != 0) alive_ = false;
}

void Guest::read_console() {
    std::array<char, 65536> block{};
    const ssize_t n = read(console_end_.get(), block.data(), block.size());
    if (n == 0) console_end_.reset();
    if (n <= 0) return;
    console_.feed({block.data(), static_cast<std::size_t>(n)});
    last_print_ns_ = monotonic_ns();
}

void Guest::read_agent() {
    std::array<char, 65536> block{};
    const ssize_t n = read(channel_.get(), block.data(), block.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        channel_open_ = false;
        return;
    }
    if (!lines_.feed({block.data(), static_cast<std::size_t>(n)})) {
        garbage_ = "a line without end";
        channel_open_ = false;
        return;
    }
    std::string line;
    while (garbage_.empty() && lines_.next(line)) {
        try {
            take(transport::parse_message(line));
        } catch (const std::exception& error) {
            garbage_ = error.what();
        }
    }
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
    if (!console_.fatal().empty() || !alive_ || !garbage_.empty() || !channel_open_) drain();
    if (!console_.fatal().empty()) {
        throw GuestFailure(Fault::kernel,
                           "the guest's kernel reported " + quoted(console_.fatal()));
    }
    if (!garbage_.empty()) {
        throw GuestFailure(Fault::garbage, "the guest's agent speaks garbage: " +
                                               transport::escape(garbage_.substr(0, 200)));
    }
    if (alive_ && channel_open_) return;
    const auto status = machine_->wait(kStopNs);
    std::string how = status ? describe(*status) : "its channel closed";
    if (status && setup_.kernel.vmm == Vmm::qemu &&
        qemu_exit(status->status).end == QemuEnd::panic && status->signal == 0 &&
        console_.last_line().empty()) {
        how += ", a panic";
    }
    const std::string last = console_.last_line();
    throw GuestFailure(Fault::ended, "the guest ended by itself (" + how + ")" +
                                         (last.empty() ? "" : "; its last line: " + quoted(last)));
}

void Guest::fail_for_want_of_progress(const std::string& phase, std::uint64_t since_ns) {
    const std::uint64_t now = monotonic_ns();
    const std::string waited = seconds(now - since_ns);
    // Somebody who printed within the last two seconds is not silent.
    if (now - last_print_ns_ < 2 * kSecond) {
        throw GuestFailure(Fault::chatter, "the guest prints without getting on (" + phase + ", " +
                                               waited + ", " + std::to_string(console_.lines()) +
                                               " lines, the last " + quoted(console_.last_line()) +
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
    const std::string line = transport::format_message(message);
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
    if (argv.size() > kMaxAgentLine) throw std::invalid_argument("too many arguments");
    const std::uint64_t id = next_id_++;
    ControlMessage message{"START", {}};
    message.fields.add("id", id);
    if (!file.empty()) message.fields.add("file", encode_text(file));
    for (std::size_t i = 0; i < argv.size(); ++i) {
        message.fields.add("a" + std::to_string(i), encode_text(argv[i]));
    }
    running_[id];
    last_progress_ns_ = monotonic_ns();
    progress_ = 0;
    say(message);
    return id;
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
    if (!machine_) return;
    try {
        if (alive_ && hello_ && channel_open_ && garbage_.empty()) {
            ControlMessage message{"STOP", {}};
            message.fields.add("status", std::uint64_t{1});
            say(message);
            const std::uint64_t until = monotonic_ns() + kStopNs;
            while (alive_ && monotonic_ns() < until)
                poll_once(50);
        }
    } catch (const std::exception&) {
        // It goes the hard way.
    }
    machine_->kill();
    alive_ = false;
    drain();
}

}  // namespace vsb::guest
