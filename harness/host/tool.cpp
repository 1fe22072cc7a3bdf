#include "harness/host/tool.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>

namespace vsb::harness {
namespace {

constexpr std::size_t kMaxOutput = 16 << 20;
constexpr int kStepMs = 20;  // how late `stop` may be heard
constexpr std::uint64_t kEndNs = 5'000'000'000;

// Appends what is there; closes at the end of the stream or at the cap.
void drain(Fd& from, std::string& text) {
    std::array<char, 16384> block{};
    while (from) {
        const ssize_t n = read(from.get(), block.data(), block.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0 || text.size() + static_cast<std::size_t>(n) > kMaxOutput) {
            from.reset();
            return;
        }
        text.append(block.data(), static_cast<std::size_t>(n));
    }
}

void nonblocking(const Fd& fd) {
    fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

void check_limits(std::uint64_t deadline_ns, const std::function<bool()>& stop,
                  const std::string& what) {
    if (stop && stop()) throw std::runtime_error("interrupted");
    if (monotonic_ns() >= deadline_ns) throw std::runtime_error(what + " in time (--timeout)");
}

}  // namespace

Tool::Tool(std::string role, std::vector<std::string> argv, bool announces)
    : role_(std::move(role)) {
    SpawnPlan plan;
    plan.argv = std::move(argv);
    auto [out_read, out_write] = make_pipe();
    auto [err_read, err_write] = make_pipe();
    plan.fds = {{out_write.get(), 1}, {err_write.get(), 2}};
    Fd ready_write;
    if (announces) {
        auto ends = make_pipe();
        ready_ = std::move(ends.first);
        ready_write = std::move(ends.second);
        plan.argv.insert(plan.argv.end(), {"--ready-fd", "3"});
        plan.fds.emplace_back(ready_write.get(), 3);
        nonblocking(ready_);
    }
    out_ = std::move(out_read);
    err_ = std::move(err_read);
    nonblocking(out_);
    nonblocking(err_);
    child_ = std::make_unique<Child>(plan);
}

std::uint16_t Tool::await_ready(std::uint64_t deadline_ns, const std::function<bool()>& stop) {
    std::string line;
    while (ready_ && line.find('\n') == std::string::npos) {
        check_limits(deadline_ns, stop, role_ + " did not listen");
        pollfd one{ready_.get(), POLLIN, 0};
        poll(&one, 1, kStepMs);
        drain(ready_, line);
    }
    constexpr std::string_view kWord = "READY ";
    std::uint16_t port = 0;
    if (line.starts_with(kWord)) {
        const char* end = line.data() + line.find('\n');
        const auto [rest, error] = std::from_chars(line.data() + kWord.size(), end, port);
        if (error == std::errc{} && rest == end) return port;
    }
    Tool* self = this;
    await_all({&self, 1}, std::min(deadline_ns, monotonic_ns() + kEndNs), stop);
    throw std::runtime_error(role_ + " could not listen: " + own_reason());
}

bool Tool::read_some() {
    drain(out_, out_text_);
    drain(err_, err_text_);
    return out_ || err_;
}

void Tool::await_all(std::span<Tool* const> tools, std::uint64_t deadline_ns,
                     const std::function<bool()>& stop) {
    try {
        for (;;) {
            std::vector<pollfd> fds;
            for (Tool* tool : tools) {
                if (!tool->read_some()) continue;
                if (tool->out_) fds.push_back({tool->out_.get(), POLLIN, 0});
                if (tool->err_) fds.push_back({tool->err_.get(), POLLIN, 0});
            }
            if (fds.empty()) break;
            check_limits(deadline_ns, stop, "the transfer did not end");
            poll(fds.data(), fds.size(), kStepMs);
        }
        for (Tool* tool : tools) {
            tool->status_ = tool->child_->wait(kEndNs);
            if (!tool->status_) throw std::runtime_error(tool->role_ + " did not end");
        }
    } catch (...) {
        for (Tool* tool : tools)
            tool->status_ = tool->child_->kill();
        throw;
    }
}

std::string Tool::own_reason() const {
    try {
        const auto read = transport::read_results(out_text_);
        if (!read.ok && !read.reason.empty()) return read.reason;
    } catch (const std::invalid_argument&) {
        // Not results: what it said on stderr is the next best.
    }
    std::string said = err_text_.substr(0, err_text_.find('\n'));
    if (said.size() > 300) said.resize(300);
    const std::string how = status_ ? describe(*status_) : "still running";
    return said.empty() ? how : said;
}

transport::ReadResults Tool::results() const {
    if (!succeeded()) throw std::runtime_error(role_ + ": " + own_reason());
    try {
        auto read = transport::read_results(out_text_);
        if (!read.ok) throw std::runtime_error(role_ + ": " + read.reason);
        return read;
    } catch (const std::invalid_argument& error) {
        throw std::runtime_error(role_ + " printed no results: " + error.what());
    }
}

}  // namespace vsb::harness
