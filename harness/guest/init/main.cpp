// vsb-init: PID 1 of a guest. Does what it is told on the agent's channel (harness/guest/agent.h),
// prints nothing on the console, and powers the guest off at the end.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/guest/agent.h"
#include "harness/guest/init/machine.h"
#include "transport/control.h"

namespace {

using vsb::guest::decode_text;
using vsb::guest::encode_text;
using vsb::guest::GuestCounters;
using vsb::transport::ControlMessage;

constexpr std::size_t kMaxOutput = 1 << 20;
constexpr std::size_t kMaxFile = 16 << 20;
constexpr std::size_t kPerMessage = 4096;  // bytes of text in one line, before encoding

struct Running {
    std::uint64_t id = 0;
    pid_t pid = -1;
    int output = -1;
    std::string text;
    std::string file;  // to be sent at the end
    GuestCounters before;
};

std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

void spin(std::uint64_t ns) {
    for (const std::uint64_t start = now_ns(); now_ns() - start < ns;) {
    }
}

class Agent {
  public:
    // misdeed: HOW[:N], what to do wrong at the Nth program (the first one); for tests.
    Agent(int channel, const std::string& misdeed)
        : channel_(channel),
          misdeed_(misdeed.substr(0, misdeed.find(':'))),
          misdeed_at_(misdeed.find(':') == std::string::npos
                          ? 1
                          : std::strtoull(misdeed.c_str() + misdeed.find(':') + 1, nullptr, 10)) {}

    void hello(const std::vector<std::string>& trouble) {
        for (const std::string& one : trouble)
            warn(one);
        utsname name{};
        uname(&name);
        ControlMessage message{"HELLO", {}};
        message.fields.add("version", std::uint64_t{1});
        message.fields.add("release", encode_text(name.release));
        message.fields.add("cpus", static_cast<std::uint64_t>(vsb::guest::online_cpus()));
        say(message);
    }

    [[noreturn]] void serve() {
        for (;;)
            turn(channel_);
    }

    // Orders that came with the guest: nothing is read from the channel, so that nothing of the
    // host's time comes in.
    [[noreturn]] void serve(std::istream& orders) {
        for (std::string line; std::getline(orders, line);) {
            obey(line);
            while (awaited_ != 0 && is_running(awaited_))
                turn(-1);
            awaited_ = 0;
        }
        vsb::guest::power_off(4);  // they end with STOP
    }

  private:
    // Waits for programs' output and, unless it is -1, for orders.
    void turn(int channel) {
        std::vector<pollfd> fds{{channel, POLLIN, 0}};
        for (const Running& one : running_)
            fds.push_back({one.output, POLLIN, 0});
        poll(fds.data(), fds.size(), -1);
        for (std::size_t i = running_.size(); i-- > 0;) {
            if (fds[i + 1].revents != 0) read_output(i);
        }
        if (fds[0].revents != 0) read_orders();
    }

    bool is_running(std::uint64_t id) const {
        return std::any_of(running_.begin(), running_.end(),
                           [id](const Running& one) { return one.id == id; });
    }

    void obey(const std::string& line) {
        try {
            order(vsb::transport::parse_message(line));
        } catch (const std::exception& error) {
            warn("not understood: " + std::string(error.what()));
        }
    }

    void say(const ControlMessage& message) {
        const std::string line = vsb::transport::format_message(message);
        std::size_t done = 0;
        while (done < line.size()) {
            const ssize_t n = write(channel_, line.data() + done, line.size() - done);
            if (n < 0 && errno != EINTR && errno != EAGAIN) vsb::guest::power_off(4);
            if (n > 0) done += static_cast<std::size_t>(n);
        }
    }

    void warn(const std::string& text) {
        ControlMessage message{"WARN", {}};
        message.fields.add("text", encode_text(text));
        say(message);
    }

    void read_orders() {
        std::array<char, 4096> block{};
        const ssize_t n = read(channel_, block.data(), block.size());
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (n <= 0) vsb::guest::power_off(4);  // the harness is gone
        if (!orders_.feed({block.data(), static_cast<std::size_t>(n)})) vsb::guest::power_off(4);
        std::string line;
        while (orders_.next(line))
            obey(line);
    }

    void order(const ControlMessage& message) {
        const auto& fields = message.fields;
        if (message.verb == "START") {
            start(message);
        } else if (message.verb == "SET") {
            const std::string name = decode_text(fields.text("name"));
            const auto error = vsb::guest::set_sysctl(name, decode_text(fields.text("value")));
            if (!error.empty()) warn(error);
        } else if (message.verb == "PIN") {
            const auto error = vsb::guest::pin_interrupts(static_cast<int>(fields.number("cpu")));
            if (!error.empty()) warn("the interrupts' CPU: " + error);
        } else if (message.verb == "KILL") {
            for (const Running& one : running_) {
                if (one.id == fields.number("id")) kill(one.pid, SIGKILL);
            }
        } else if (message.verb == "WAIT") {
            awaited_ = fields.number("id");
        } else if (message.verb == "SPIN") {
            spin(fields.number("ns"));
        } else if (message.verb == "STOP") {
            vsb::guest::power_off(static_cast<int>(fields.number("status")));
        } else if (message.verb == "MISBEHAVE") {
            misbehave(fields.text("how"));
        } else {
            warn("unknown order " + message.verb);
        }
    }

    void start(const ControlMessage& message) {
        std::vector<std::string> arguments;
        while (arguments.size() < vsb::guest::kMaxArguments) {
            const auto* one = message.fields.find("a" + std::to_string(arguments.size()));
            if (one == nullptr) break;
            arguments.push_back(decode_text(*one));
        }
        if (arguments.empty()) throw std::invalid_argument("START without a program");
        if (!misdeed_.empty() && ++starts_ == misdeed_at_) {
            misdeed_ == "short" ? expect_more(arguments) : misbehave(misdeed_);
        }
        Running run;
        run.id = message.fields.number("id");
        if (const auto* file = message.fields.find("file")) run.file = decode_text(*file);
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) < 0) throw std::runtime_error("pipe");
        std::vector<char*> argv;
        argv.reserve(arguments.size() + 1);
        for (std::string& one : arguments)
            argv.push_back(one.data());
        argv.push_back(nullptr);
        run.before = vsb::guest::read_counters();
        run.pid = fork();
        if (run.pid == 0) {
            dup2(ends[1], STDOUT_FILENO);
            dup2(ends[1], STDERR_FILENO);
            execv(argv[0], argv.data());
            dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
            _exit(127);
        }
        close(ends[1]);
        run.output = ends[0];
        ControlMessage started{"STARTED", {}};
        started.fields.add("id", run.id);
        running_.push_back(std::move(run));
        say(started);
    }

    void read_output(std::size_t index) {
        Running& run = running_[index];
        std::array<char, 4096> block{};
        const ssize_t n = read(run.output, block.data(), block.size());
        if (n < 0 && errno == EINTR) return;
        if (n > 0) {
            run.text.append(block.data(),
                            std::min(static_cast<std::size_t>(n), kMaxOutput - run.text.size()));
            return;
        }
        close(run.output);
        int status = 0;
        while (waitpid(run.pid, &status, 0) < 0 && errno == EINTR) {
        }
        const GuestCounters after = vsb::guest::read_counters();
        send_text("LINE", run.id, run.text);
        if (!run.file.empty()) send_file(run);
        ControlMessage end{"END", {}};
        end.fields.add("id", run.id);
        end.fields.add("status",
                       static_cast<std::uint64_t>(WIFEXITED(status) ? WEXITSTATUS(status) : 0));
        end.fields.add("signal",
                       static_cast<std::uint64_t>(WIFSIGNALED(status) ? WTERMSIG(status) : 0));
        for (const auto& counter : after) {
            const auto at =
                std::find_if(run.before.begin(), run.before.end(),
                             [&](const auto& one) { return one.first == counter.first; });
            if (at != run.before.end()) end.fields.add(counter.first, counter.second - at->second);
        }
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
        say(end);
    }

    void send_text(const char* verb, std::uint64_t id, const std::string& text) {
        for (std::size_t at = 0; at < text.size(); at += kPerMessage) {
            ControlMessage message{verb, {}};
            message.fields.add("id", id);
            message.fields.add("text", encode_text(text.substr(at, kPerMessage)));
            say(message);
        }
    }

    void send_file(const Running& run) {
        std::ifstream file(run.file, std::ios::binary);
        std::string text(kMaxFile, '\0');
        file.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(file.gcount()));
        send_text("FILE", run.id, text);
    }

    // Makes the receiver wait for more than will be sent: a transfer that is too short.
    static void expect_more(std::vector<std::string>& arguments) {
        const auto at = std::find(arguments.begin(), arguments.end(), "--expect");
        if (at == arguments.end() || at + 1 == arguments.end()) return;
        at[1] = std::to_string(std::strtoull(at[1].c_str(), nullptr, 10) + 64);
    }

    // What a broken guest does, so that the harness can be seen to notice.
    void misbehave(const std::string& how) {
        const int console = open("/dev/console", O_WRONLY | O_CLOEXEC);
        const auto print = [console](const std::string& text) {
            [[maybe_unused]] const ssize_t n = write(console, text.data(), text.size());
        };
        if (how == "panic") _exit(1);  // "Attempted to kill init!"
        if (how == "exit") vsb::guest::power_off(0);
        if (how == "silent") {
            for (;;)
                pause();
        }
        if (how == "oops") {
            const int kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
            const std::string text = "<0>Oops: 0002 [#1] told to\n";
            [[maybe_unused]] const ssize_t n = write(kmsg, text.data(), text.size());
            print(text);
            for (;;)
                pause();
        }
        if (how == "chatter") {
            for (;;) {
                print("still here\n");
                poll(nullptr, 0, 20);
            }
        }
        if (how == "flood") {
            const std::string block = std::string(1023, 'x') + "\n";
            for (int i = 0; i < 100 * 1024; ++i)
                print(block);
            return;
        }
        if (how == "garbage") {
            std::string block(100'000, '\xfe');
            [[maybe_unused]] const ssize_t n = write(channel_, block.data(), block.size());
            return;
        }
        warn("cannot misbehave like that: " + how);
    }

    int channel_;
    std::string misdeed_;
    std::uint64_t misdeed_at_;
    std::uint64_t starts_ = 0;
    vsb::guest::LineBuffer orders_;
    std::vector<Running> running_;
    std::uint64_t awaited_ = 0;  // WAIT's program; 0: none
};

}  // namespace

int main() {
    if (getpid() != 1) {
        dprintf(STDERR_FILENO, "vsb-init is PID 1 of a guest and of nothing else\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    std::vector<std::string> trouble = vsb::guest::mount_file_systems();
    for (std::string& one : vsb::guest::load_modules())
        trouble.push_back(std::move(one));
    const int channel = vsb::guest::open_channel(vsb::guest::command_line_value("vsb_channel"));
    if (channel < 0) {
        dprintf(STDERR_FILENO, "vsb-init: the agent's channel did not appear\n");
        for (const std::string& one : trouble)
            dprintf(STDERR_FILENO, "%s\n", one.c_str());
        vsb::guest::power_off(3);
    }
    Agent agent(channel, vsb::guest::command_line_value("vsb_misbehave"));
    agent.hello(trouble);
    if (std::ifstream orders("/orders"); orders) agent.serve(orders);
    agent.serve();
}
