#include "harness/guest/job.h"

#include <algorithm>

#include "transport/control.h"

namespace vsb::guest {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxPiece = 64 * 1024;  // VIRTIO_VSOCK_MAX_PKT_BUF_SIZE

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

void Job::fail(const std::string& why) {
    if (done_) return;
    failure_ = why;
    done_ = true;
}

std::uint32_t Job::credit(Stream& stream, std::uint32_t wanted) {
    const std::uint32_t room = std::min(wanted, stream.room());
    if (room == 0 && wanted != 0 && !waiting_) ++credit_waits_;
    waiting_ = room == 0;
    return room;
}

SendJob::SendJob(VsockHost& host, Clock now, const SendPlan& plan)
    : Job(host, now), plan_(plan), payload_(plan.seed, plan.payload_bytes) {}

void SendJob::start() {
    stream_ = &host_.connect(plan_.port);
}

void SendJob::tick() {
    if (!connect_again_) return;
    connect_again_ = false;
    host_.forget_all();
    start();
}

void SendJob::opened(Stream&) {
    advance(1);
}

void SendJob::refused(Stream&) {
    connect_again_ = true;
}

void SendJob::data(Stream&, std::span<const std::byte>) {
    fail("the receiver sent data back");
}

void SendJob::closed(Stream& stream, bool reset) {
    if (bytes_ != plan_.writes * plan_.payload_bytes) {
        fail("the receiver left after " + std::to_string(bytes_) + " of " +
             std::to_string(plan_.writes * plan_.payload_bytes) + " bytes had been sent");
    } else if (reset && stream.peer_fwd_cnt != stream.tx_cnt) {
        // With everything read, a reset is how a guest ends a connection that it closed first.
        fail("the receiver reset the connection before it had read everything");
    } else {
        finish();
    }
}

std::optional<Piece> SendJob::next(std::uint32_t room) {
    const std::uint64_t all = plan_.writes * plan_.payload_bytes;
    if (stream_ == nullptr || stream_->state != StreamState::open || bytes_ == all) return {};
    const std::uint64_t within = bytes_ % plan_.payload_bytes;
    const std::uint64_t rest = std::min<std::uint64_t>(plan_.payload_bytes - within, room);
    const std::uint32_t size = credit(*stream_, static_cast<std::uint32_t>(rest));
    if (size == 0) return {};
    return Piece{stream_, payload_.at(bytes_), size};
}

void SendJob::sent(const Piece& piece, std::uint64_t at_ns) {
    if (bytes_ == 0) first_ns_ = at_ns;
    last_ns_ = at_ns;
    bytes_ += piece.size;
    ++packets_;
    advance(piece.size);
    if (bytes_ == plan_.writes * plan_.payload_bytes) host_.shutdown_send(*stream_);
}

ReceiveJob::ReceiveJob(VsockHost& host, Clock now, const ReceivePlan& plan)
    : Job(host, now), plan_(plan), payload_(plan.seed, kMaxPiece) {}

void ReceiveJob::opened(Stream& stream) {
    advance(1);
    if (stream_ != nullptr) return host_.reset(stream);
    stream_ = &stream;
}

void ReceiveJob::data(Stream& stream, std::span<const std::byte> bytes) {
    if (&stream != stream_ || done()) return;
    if (bytes.size() > plan_.bytes - bytes_) {
        fail("the sender sent more than the " + std::to_string(plan_.bytes) + " bytes planned");
        return;
    }
    if (plan_.verify) {
        const auto at = payload_.first_difference(bytes_, bytes.data(), bytes.size());
        if (at) {
            fail("byte " + std::to_string(bytes_ + *at) + " differs from what was to be sent");
            return;
        }
    }
    bytes_ += bytes.size();
    advance(bytes.size());
}

void ReceiveJob::closed(Stream& stream, bool) {
    if (&stream != stream_) return;
    if (bytes_ == plan_.bytes) return finish();
    fail("the sender left after " + std::to_string(bytes_) + " of " + std::to_string(plan_.bytes) +
         " bytes");
}

PingJob::PingJob(VsockHost& host, Clock now, const PingPlan& plan)
    : Job(host, now), plan_(plan), payload_(plan.seed, plan.payload_bytes) {
    rtt_ns_.reserve(plan.requests);
}

void PingJob::start() {
    control_ = &host_.connect(plan_.port);
}

void PingJob::tick() {
    if (!connect_again_) return;
    connect_again_ = false;
    host_.forget_all();
    start();
}

void PingJob::say(const std::string& line) {
    to_say_ += line;
}

void PingJob::opened(Stream& stream) {
    advance(1);
    if (&stream != control_) return;
    transport::ControlMessage plan{"PLAN", {}};
    plan.fields.add("protocol", "pingpong/1");
    plan.fields.add("requests", plan_.requests);
    plan.fields.add("warmup", plan_.warmup);
    plan.fields.add("size", plan_.payload_bytes);
    plan.fields.add("kind", "stream");
    if (!plan_.nonce.empty()) plan.fields.add("nonce", plan_.nonce);
    say(transport::format_message(plan));
}

void PingJob::refused(Stream& stream) {
    if (&stream == control_) {
        connect_again_ = true;
    } else {
        fail("the echo server refused the data connection");
    }
}

void PingJob::closed(Stream& stream, bool) {
    // After the last echo the server may close the data connection before it says DONE.
    if (&stream == data_ && request_ == plan_.warmup + plan_.requests) return;
    if (!done()) fail("the echo server left after " + std::to_string(request_) + " requests");
}

void PingJob::data(Stream& stream, std::span<const std::byte> bytes) {
    if (&stream == data_) {
        echoed(bytes);
        return;
    }
    for (const std::byte one : bytes) {
        const char c = static_cast<char>(one);
        if (c == '\n') {
            heard(line_);
            line_.clear();
        } else if (line_.size() < kMaxLine) {
            line_ += c;
        }
        if (done()) return;
    }
}

void PingJob::heard(const std::string& line) {
    transport::ControlMessage message;
    try {
        message = transport::parse_message(line);
    } catch (const std::exception& error) {
        fail("the echo server's word: " + std::string(error.what()));
        return;
    }
    const std::uint64_t total = plan_.warmup + plan_.requests;
    if (message.verb == "READY" && data_ == nullptr) {
        data_ = &host_.connect(plan_.port);
    } else if (message.verb == "GO" && data_ != nullptr && !running_) {
        running_ = true;
    } else if (message.verb == "DONE" && request_ == total) {
        const std::string* counted = message.fields.find("requests");
        if (counted == nullptr || *counted != std::to_string(total)) {
            fail("the echo server counted " + (counted != nullptr ? *counted : "no") +
                 " requests, sent were " + std::to_string(total));
            return;
        }
        finish();
    } else {
        fail("the echo server said: " + line);
    }
}

std::optional<Piece> PingJob::next(std::uint32_t room) {
    if (!to_say_.empty() && control_->state == StreamState::open) {
        const std::uint32_t size = credit(
            *control_, static_cast<std::uint32_t>(std::min<std::size_t>(room, to_say_.size())));
        if (size != 0) return Piece{control_, bytes_of(to_say_).data(), size};
    }
    if (!running_ || request_ == plan_.warmup + plan_.requests || sent_ == plan_.payload_bytes ||
        data_->state != StreamState::open) {
        return {};
    }
    const std::uint64_t rest = std::min<std::uint64_t>(plan_.payload_bytes - sent_, room);
    const std::uint32_t size = credit(*data_, static_cast<std::uint32_t>(rest));
    if (size == 0) return {};
    return Piece{data_, payload_.at(place()) + sent_, size};
}

void PingJob::sent(const Piece& piece, std::uint64_t at_ns) {
    if (piece.stream == control_) {
        to_say_.erase(0, piece.size);
        return;
    }
    if (sent_ == 0) asked_ns_ = at_ns;
    sent_ += piece.size;
}

void PingJob::echoed(std::span<const std::byte> bytes) {
    if (back_ + bytes.size() > sent_) {
        fail("the echo of request " + std::to_string(request_) + " is longer than the request");
        return;
    }
    if (!std::ranges::equal(bytes, std::span(payload_.at(place()) + back_, bytes.size()))) {
        fail("the echo of request " + std::to_string(request_) + " differs");
        return;
    }
    back_ += bytes.size();
    if (back_ != plan_.payload_bytes) return;
    const std::uint64_t now = now_();
    if (now <= asked_ns_) {
        fail("no time passed on the clock over a request");
        return;
    }
    if (request_ >= plan_.warmup) rtt_ns_.push_back(now - asked_ns_);
    ++request_;
    sent_ = back_ = 0;
    advance(1);
    if (request_ != plan_.warmup + plan_.requests) return;
    host_.shutdown_send(*data_);
    transport::ControlMessage done{"DONE", {}};
    done.fields.add("requests", request_);
    say(transport::format_message(done));
}

}  // namespace vsb::guest
