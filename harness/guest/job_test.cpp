#include "harness/guest/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "transport/payload.h"

namespace vsb::guest {
namespace {

using engine::Header;
using engine::Op;
using engine::PacketType;
using testing::HasSubstr;

constexpr std::uint64_t kCid = 3;

std::uint64_t tick_clock() {
    static std::uint64_t now = 0;
    return now += 1000;
}

// The guest's side, by hand: answers packets as a kernel would.
Header answer(const Header& to, Op op, std::uint32_t flags = 0) {
    Header header;
    header.src_cid = kCid;
    header.dst_cid = kHostCid;
    header.src_port = to.dst_port;
    header.dst_port = to.src_port;
    header.type = PacketType::stream;
    header.op = op;
    header.flags = flags;
    header.buf_alloc = 1000;
    return header;
}

TEST(VsockRules, RefusesWhatItDidNotAskFor) {
    VsockHost host(kCid);
    Header request = answer({}, Op::request);
    request.src_port = 5;
    request.dst_port = 6;
    EXPECT_EQ(host.receive(request, {}), "");
    ASSERT_TRUE(host.has_packet());
    const Header reset = host.take_packet();
    EXPECT_EQ(reset.op, Op::rst);
    EXPECT_EQ(reset.dst_port, 5u);
    EXPECT_EQ(reset.src_port, 6u);
    EXPECT_EQ(host.receive(answer({}, Op::rst), {}), "");
    EXPECT_FALSE(host.has_packet());  // never an RST for an RST
}

TEST(VsockRules, DropsLies) {
    VsockHost host(kCid);
    Header header = answer({}, Op::rw);
    header.src_cid = 99;
    EXPECT_NE(host.receive(header, {}), "");
    header = answer({}, Op::rw);
    header.len = 5;
    EXPECT_NE(host.receive(header, {}), "");
    for (int i = 0; i < 100'000; ++i)
        host.receive(header, {});
    std::size_t queued = 0;
    for (; host.has_packet(); ++queued)
        host.take_packet();
    EXPECT_LE(queued, VsockHost::kMaxQueued);  // a flood of nonsense costs no memory
}

class Sending : public testing::Test {
  protected:
    void make(std::uint64_t writes, std::uint64_t payload) {
        job_.emplace(host_, tick_clock, SendPlan{77, writes, payload, 9});
        host_.set_events(&*job_);
        job_->start();
        request_ = host_.take_packet();
        EXPECT_EQ(request_.op, Op::request);
        EXPECT_EQ(request_.dst_port, 77u);
    }
    void take(Op op, std::uint32_t forwarded, std::uint32_t flags = 0) {
        Header header = answer(request_, op, flags);
        header.fwd_cnt = forwarded;
        EXPECT_EQ(host_.receive(header, {}), "");
    }
    // Sends what can be sent into buffers of `room`; returns the bytes.
    std::vector<std::byte> drain(std::uint32_t room) {
        std::vector<std::byte> bytes;
        while (const auto piece = job_->next(room)) {
            sizes_.push_back(piece->size);
            bytes.insert(bytes.end(), piece->data, piece->data + piece->size);
            host_.data_header(*piece->stream, piece->size);
            job_->sent(*piece, tick_clock());
        }
        return bytes;
    }
    VsockHost host_{kCid};
    std::optional<SendJob> job_;
    Header request_;
    std::vector<std::uint32_t> sizes_;
};

TEST_F(Sending, SendsEveryByteWithinTheCredit) {
    make(10, 300);
    EXPECT_FALSE(job_->next(100));  // not open yet
    take(Op::response, 0);
    std::vector<std::byte> bytes = drain(4096);
    EXPECT_EQ(bytes.size(), 1000u);  // buf_alloc
    EXPECT_EQ(job_->credit_waits(), 1u);
    std::uint32_t forwarded = 0;
    while (bytes.size() < 3000) {
        forwarded += 500;
        take(Op::credit_update, forwarded);
        const auto more = drain(128);
        bytes.insert(bytes.end(), more.begin(), more.end());
        ASSERT_LE(bytes.size() - forwarded, 1000u);
    }
    const transport::Payload payload(9, 3000);
    EXPECT_FALSE(payload.first_difference(0, bytes.data(), bytes.size()));
    EXPECT_EQ(host_.take_packet().op, Op::shutdown);
    EXPECT_FALSE(job_->done());
    take(Op::shutdown, 3000, 3);
    EXPECT_TRUE(job_->done());
    EXPECT_EQ(job_->failure(), "");
    EXPECT_EQ(host_.take_packet().op, Op::rst);  // what the guest's close waits for
}

TEST_F(Sending, APacketNeverHoldsPartsOfTwoWrites) {
    make(4, 100);
    take(Op::response, 0);
    drain(80);
    EXPECT_THAT(sizes_, testing::ElementsAre(80, 20, 80, 20, 80, 20, 80, 20));
}

TEST_F(Sending, ConnectsAgainWhereNobodyListensYet) {
    make(1, 10);
    take(Op::rst, 0);
    EXPECT_FALSE(job_->done());
    job_->tick();
    const Header again = host_.take_packet();
    EXPECT_EQ(again.op, Op::request);
    EXPECT_NE(again.src_port, request_.src_port);
}

TEST_F(Sending, AReceiverThatLeavesEarlyIsAFailure) {
    make(10, 300);
    take(Op::response, 0);
    drain(4096);
    take(Op::rst, 500);
    EXPECT_TRUE(job_->done());
    EXPECT_THAT(job_->failure(), HasSubstr("after 1000 of 3000 bytes"));
}

TEST_F(Sending, ACreditThatIsNoneGivesNothing) {
    make(10, 300);
    take(Op::response, 0xffff'0000);  // "I have read more than you sent"
    EXPECT_FALSE(job_->next(100));
}

class Pinging : public testing::Test {
  protected:
    Pinging() {
        host_.set_events(&job_);
        job_.start();
        control_ = host_.take_packet();
        EXPECT_EQ(host_.receive(answer(control_, Op::response), {}), "");
    }
    std::string pieces(std::size_t limit = 100'000) {
        std::string text;
        while (text.size() < limit) {
            const auto piece = job_.next(4096);
            if (!piece) break;
            text.append(reinterpret_cast<const char*>(piece->data), piece->size);
            host_.data_header(*piece->stream, piece->size);
            job_.sent(*piece, tick_clock());
        }
        return text;
    }
    void say(const Header& to, const std::string& text) {
        Header header = answer(to, Op::rw);
        header.len = static_cast<std::uint32_t>(text.size());
        header.fwd_cnt = forwarded_;
        host_.receive(header, std::as_bytes(std::span(text)));
    }
    void open_data() {
        pieces();
        say(control_, "READY port=77\n");
        data_ = host_.take_packet();
        host_.receive(answer(data_, Op::response), {});
        say(control_, "GO\n");
    }
    VsockHost host_{kCid};
    PingJob job_{host_, tick_clock, PingPlan{77, 5, 2, 64, 9, "nonce"}};
    Header control_;
    Header data_;
    std::uint32_t forwarded_ = 0;
};

TEST_F(Pinging, SpeaksTheToolsProtocol) {
    EXPECT_EQ(pieces(),
              "PLAN protocol=pingpong/1 requests=5 warmup=2 size=64 kind=stream nonce=nonce\n");
    open_data();
    for (int i = 0; i < 7; ++i) {
        const std::string request = pieces(64);
        ASSERT_EQ(request.size(), 64u);
        EXPECT_FALSE(job_.next(4096));  // one at a time
        say(data_, request.substr(0, 10));
        say(data_, request.substr(10));
    }
    EXPECT_EQ(host_.take_packet().op, Op::shutdown);
    EXPECT_EQ(pieces(), "DONE requests=7\n");
    say(control_, "DONE requests=7\n");
    EXPECT_TRUE(job_.done());
    EXPECT_EQ(job_.failure(), "");
    EXPECT_EQ(job_.rtt_ns().size(), 5u);
}

TEST_F(Pinging, AnotherReplyIsAFailure) {
    open_data();
    std::string request = pieces(64);
    request[63] = static_cast<char>(request[63] + 1);
    say(data_, request);
    EXPECT_THAT(job_.failure(), HasSubstr("differs"));
}

TEST_F(Pinging, AFailingServerIsHeard) {
    open_data();
    say(control_, "FAIL reason=no more CPUs\n");
    EXPECT_THAT(job_.failure(), HasSubstr("no more CPUs"));
}

TEST_F(Pinging, GarbageOnTheControlStreamIsAFailure) {
    pieces();
    say(control_, std::string(100, '\xff') + "\n");
    EXPECT_NE(job_.failure(), "");
}

// Random packets at every state of a job: nothing may crash or be read out of bounds.
class Receiving : public testing::Test {
  protected:
    // A sender in the guest asks for a connection to port 9.
    void connect() {
        host_.set_events(&job_);
        job_.start();
        Header request = answer({}, Op::request);
        request.src_port = 40;
        request.dst_port = 9;
        request.buf_alloc = 1000;
        ASSERT_EQ(host_.receive(request, {}), "");
        response_ = host_.take_packet();
        ASSERT_EQ(response_.op, Op::response);
        ASSERT_EQ(response_.buf_alloc, VsockHost::kBufAlloc);
    }
    void send(std::uint64_t offset, std::uint32_t size) {
        Header header = answer(response_, Op::rw);
        header.len = size;
        host_.receive(header, std::span(payload_.at(offset), size));
    }
    void leave() { host_.receive(answer(response_, Op::shutdown, 3), {}); }

    VsockHost host_{kCid};
    ReceiveJob job_{host_, tick_clock, {9, 1000, 5, true}};
    transport::Payload payload_{5, 1000};
    Header response_;
};

TEST_F(Receiving, TakesTheStreamToItsEnd) {
    connect();
    send(0, 600);
    send(600, 400);
    EXPECT_FALSE(job_.done());
    leave();
    EXPECT_TRUE(job_.done());
    EXPECT_EQ(job_.failure(), "");
    EXPECT_EQ(job_.bytes(), 1000u);
    host_.take_packet();  // the RST that the guest waits for
    host_.forget_all();
    Header request = answer({}, Op::request);
    request.dst_port = 9;
    host_.receive(request, {});
    EXPECT_EQ(host_.take_packet().op, Op::rst) << "it listens no more";
}

TEST_F(Receiving, AnotherByteIsAFailure) {
    connect();
    send(1, 10);
    EXPECT_THAT(job_.failure(), HasSubstr("byte 0 differs"));
}

TEST_F(Receiving, TooLittleAndTooMuchAreFailures) {
    connect();
    send(0, 999);
    leave();
    EXPECT_THAT(job_.failure(), HasSubstr("999 of 1000"));
    ReceiveJob other(host_, tick_clock, {9, 5, 5, true});
    host_.forget_all();
    host_.set_events(&other);
    other.start();
    Header request = answer({}, Op::request);
    request.src_port = 41;
    request.dst_port = 9;
    host_.receive(request, {});
    while (host_.has_packet())
        response_ = host_.take_packet();
    send(0, 6);
    EXPECT_THAT(other.failure(), HasSubstr("more than the 5 bytes"));
}

TEST(HostFuzz, SurvivesWhateverTheGuestSends) {
    std::mt19937_64 random(11);
    std::vector<std::byte> bytes(5000);
    for (int round = 0; round < 400; ++round) {
        VsockHost host(kCid);
        SendJob job(host, tick_clock, SendPlan{77, 100, 64, 1});
        PingJob ping(host, tick_clock, PingPlan{77, 5, 2, 64, 9, ""});
        Job& one = round % 2 == 0 ? static_cast<Job&>(job) : ping;
        host.set_events(&one);
        one.start();
        std::uint32_t port = 1024;
        for (int step = 0; step < 200 && !one.done(); ++step) {
            while (host.has_packet()) {
                const Header sent = host.take_packet();
                if (sent.op == Op::request) port = sent.src_port;
            }
            Header header;
            header.src_cid = random() % 20 == 0 ? random() : kCid;
            header.dst_cid = kHostCid;
            header.src_port = random() % 20 == 0 ? 1 : 77;
            header.dst_port = random() % 20 == 0 ? 1 : port;
            header.type = static_cast<PacketType>(random() % 20 == 0 ? random() : 1);
            header.op = static_cast<Op>(random() % 9);
            header.flags = static_cast<std::uint32_t>(random() % 5);
            header.buf_alloc = static_cast<std::uint32_t>(random());
            header.fwd_cnt = static_cast<std::uint32_t>(random() % 3 == 0 ? random() : 0);
            header.len = header.op == Op::rw ? static_cast<std::uint32_t>(random() % 5000) : 0;
            for (std::size_t i = 0; i < header.len; ++i) {
                bytes[i] = static_cast<std::byte>(random() % 8 == 0 ? '\n' : random());
            }
            host.receive(header, std::span(bytes.data(), header.len));
            one.tick();
            if (const auto piece = one.next(static_cast<std::uint32_t>(1 + random() % 100))) {
                host.data_header(*piece->stream, piece->size);
                one.sent(*piece, tick_clock());
            }
        }
    }
}

}  // namespace
}  // namespace vsb::guest
