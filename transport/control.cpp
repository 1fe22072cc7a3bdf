#include "transport/control.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include "transport/errors.h"

namespace vsb::transport {
namespace {

constexpr std::size_t kLongestLine = 4096;
constexpr std::uint64_t kNsPerMs = 1000000;

int remaining_ms(Calls& calls, std::uint64_t deadline_ns) {
    const std::uint64_t now = calls.now_ns();
    if (now >= deadline_ns) return 0;
    return static_cast<int>(std::min<std::uint64_t>((deadline_ns - now + kNsPerMs - 1) / kNsPerMs,
                                                    std::numeric_limits<int>::max()));
}

}  // namespace

ControlMessage parse_message(std::string_view line) {
    ControlMessage message;
    const auto blank = line.find(' ');
    message.verb = line.substr(0, blank);
    const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (message.verb.empty() || !std::all_of(message.verb.begin(), message.verb.end(), upper)) {
        throw std::invalid_argument("'" + escape(line.substr(0, 80)) + "' is no control line");
    }
    std::string_view rest = blank == std::string_view::npos ? "" : line.substr(blank + 1);
    if (message.verb == "FAIL" && rest.starts_with("reason=")) {
        message.fields.add("reason", rest.substr(7));
        return message;
    }
    while (!rest.empty()) {
        const auto end = rest.find(' ');
        const auto field = rest.substr(0, end);
        const auto equals = field.find('=');
        if (equals == std::string_view::npos) {
            throw std::invalid_argument("'" + escape(field.substr(0, 80)) + "' in " + message.verb +
                                        " is no key=value");
        }
        message.fields.add(field.substr(0, equals), field.substr(equals + 1));
        rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    }
    return message;
}

std::string format_message(const ControlMessage& message) {
    std::string line = message.verb;
    for (const auto& [key, value] : message.fields.all()) {
        line.append(" ").append(key).append("=").append(value);
    }
    return line + "\n";
}

ControlChannel::ControlChannel(Calls& calls, Descriptor socket, std::string peer)
    : calls_(calls), socket_(std::move(socket)), peer_(std::move(peer)) {}

void ControlChannel::send(const ControlMessage& message, std::uint64_t deadline_ns) {
    const std::string line = format_message(message);
    std::size_t sent = 0;
    while (sent < line.size()) {
        const ssize_t n = calls_.send(socket_.get(), line.data() + sent, line.size() - sent,
                                      MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            sent += static_cast<std::size_t>(n);
            continue;
        }
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno != EAGAIN) {
            throw_errno(errno, "sending " + message.verb + " to", peer_);
        }
        pollfd waiting{socket_.get(), POLLOUT, 0};
        const int ready = calls_.poll(&waiting, 1, remaining_ms(calls_, deadline_ns));
        if (ready < 0 && errno != EINTR) throw_errno(errno, "waiting for", peer_);
        if (ready == 0) throw Failure(peer_ + " did not take " + message.verb + " in time");
    }
}

ControlChannel::Fill ControlChannel::fill(int flags) {
    char chunk[kLongestLine];
    for (;;) {
        const ssize_t n = calls_.recv(socket_.get(), chunk, sizeof chunk, flags);
        if (n > 0) {
            buffer_.append(chunk, static_cast<std::size_t>(n));
            if (buffer_.size() > 2 * kLongestLine) {
                throw Failure(peer_ + " sent a control line that does not end");
            }
            return Fill::data;
        }
        if (n == 0) return closed_ = true, Fill::closed;
        if (errno == EINTR) continue;
        if (errno == EAGAIN) return Fill::nothing;
        if (errno == ECONNRESET || errno == EPIPE) return closed_ = true, Fill::closed;
        throw_errno(errno, "reading the control channel of", peer_);
    }
}

std::optional<std::string> ControlChannel::next_line() {
    const auto end = buffer_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return line;
}

ControlMessage ControlChannel::expect(std::string_view verb, std::uint64_t deadline_ns) {
    for (;;) {
        if (const auto line = next_line()) {
            ControlMessage message;
            try {
                message = parse_message(*line);
            } catch (const std::invalid_argument& error) {
                throw Failure(peer_ + " does not speak our protocol: " + error.what());
            }
            if (message.verb == "FAIL") {
                const std::string* reason = message.fields.find("reason");
                throw Failure(peer_ + " failed: " + (reason ? *reason : "no reason given"));
            }
            if (message.verb != verb) {
                throw Failure(peer_ + " said " + message.verb + " where " + std::string(verb) +
                              " was due");
            }
            return message;
        }
        if (closed_) throw Failure(peer_ + " left before it said " + std::string(verb));
        pollfd waiting{socket_.get(), POLLIN, 0};
        const int ready = calls_.poll(&waiting, 1, remaining_ms(calls_, deadline_ns));
        if (ready < 0 && errno != EINTR) throw_errno(errno, "waiting for", peer_);
        if (ready == 0) {
            throw Failure(peer_ + " did not say " + std::string(verb) + " before the deadline");
        }
        if (ready > 0) fill(MSG_DONTWAIT);
    }
}

void ControlChannel::fail(std::string_view reason) noexcept {
    try {
        ControlMessage message{"FAIL", {}};
        message.fields.add("reason", escape(reason.substr(0, 1000)));
        send(message, calls_.now_ns() + 100 * kNsPerMs);
    } catch (...) {  // the peer sees the connection close instead
    }
}

std::optional<std::string> ControlChannel::trouble() {
    while (!closed_ && fill(MSG_DONTWAIT) == Fill::data) {
    }
    if (buffer_.starts_with("FAIL")) {
        const auto end = buffer_.find('\n');
        const std::string line = buffer_.substr(0, end);
        const auto reason = line.find("reason=");
        return peer_ + " failed: " +
               (reason == std::string::npos ? "no reason given" : escape(line.substr(reason + 7)));
    }
    if (closed_ && buffer_.find('\n') == std::string::npos) {
        return peer_ + " left in the middle of the trial";
    }
    return std::nullopt;
}

}  // namespace vsb::transport
