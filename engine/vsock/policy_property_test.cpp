// Differential: whatever mix of packets arrives, every policy leaves each socket with the bytes,
// the record boundaries, the answers and the drops of `per-packet`, and every sleeping receiver
// whose mark is reached is woken at each boundary.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "engine/vsock/test_rig.h"

namespace vsb::engine {
namespace {

constexpr std::uint32_t kFlows = 3;
constexpr std::uint32_t kSeqFlow = 2;  // the last flow is SEQPACKET

enum class Kind : std::uint8_t {
    data,
    lying,      // header.len beyond what arrived
    short_,     // used length below a header
    over_long,  // used length beyond the buffer
    rst,
    shutdown,
    credit_request,
    credit_update,
    wrong_type,
    stranger,  // no such flow
    replace,   // callbacks replaced
    restore,
    sockmap,
    flush,  // the worker runs out of used buffers
    read,   // flushes first: a reader cannot get in before
};

struct Step {
    Kind kind;
    std::uint32_t flow;
    std::uint32_t size;
    std::uint32_t flags;
    bool room;  // for writers: without it write-space says nothing
};

struct Shape {
    std::uint32_t buf_alloc;
    std::uint32_t rcvlowat;
    BatchLimits limits;
};

void showValue(const Step& s, std::ostream& os) {
    os << "{kind " << int(s.kind) << " flow " << s.flow << " size " << s.size << " flags "
       << s.flags << " room " << s.room << "}";
}

rc::Gen<Kind> any_kind() {
    using enum Kind;
    return rc::gen::weightedElement<Kind>({{40, data},
                                           {2, lying},
                                           {1, short_},
                                           {1, over_long},
                                           {1, rst},
                                           {1, shutdown},
                                           {2, credit_request},
                                           {2, credit_update},
                                           {1, wrong_type},
                                           {1, stranger},
                                           {1, replace},
                                           {1, restore},
                                           {1, sockmap},
                                           {6, flush},
                                           {8, read}});
}

rc::Gen<Step> any_step() {
    const auto size = rc::gen::weightedOneOf<std::uint32_t>(
        {{4, rc::gen::inRange<std::uint32_t>(0, 200)},
         {2, rc::gen::inRange<std::uint32_t>(0, 3733)},
         {1, rc::gen::inRange<std::uint32_t>(0, 65537)}});  // a write: cut into packets
    return rc::gen::build<Step>(rc::gen::set(&Step::kind, any_kind()),
                                rc::gen::set(&Step::flow, rc::gen::weightedElement<std::uint32_t>(
                                                              {{6, 0U}, {2, 1U}, {2, 2U}})),
                                rc::gen::set(&Step::size, size),
                                rc::gen::set(&Step::flags, rc::gen::inRange<std::uint32_t>(0, 4)),
                                rc::gen::set(&Step::room, rc::gen::arbitrary<bool>()));
}

rc::Gen<Shape> any_shape() {
    const auto limits = rc::gen::build<BatchLimits>(
        rc::gen::set(&BatchLimits::max_pkts, rc::gen::element<std::uint32_t>(1, 2, 7, 64)),
        rc::gen::set(&BatchLimits::max_bytes, rc::gen::element<std::uint64_t>(100, 4096, 65536)));
    return rc::gen::build<Shape>(
        rc::gen::set(&Shape::buf_alloc, rc::gen::element<std::uint32_t>(300, 5000, 65536, 262144)),
        rc::gen::set(&Shape::rcvlowat, rc::gen::element<std::uint32_t>(1, 2, 100, 300)),
        rc::gen::set(&Shape::limits, limits));
}

struct Result {
    std::array<std::string, kFlows> bytes;
    std::array<std::vector<std::uint32_t>, kFlows> records;
    std::array<std::string, kFlows> ends;  // how each socket stands at the end
    std::vector<Header> replies;
    std::uint64_t drops = 0;
    std::string fault;
};

// One sleeping receiver a socket, as its entry on the wait queue.
struct Sleeper {
    Task task;
    WaitEntry entry;
    bool custom_called = false;
};

class Script {
  public:
    Script(std::string_view policy, const Shape& shape)
        : rig_(policy, shape.limits), shape_(shape) {
        for (std::uint32_t f = 0; f < kFlows; ++f) {
            sockets_[f] =
                &rig_.connected(100 + f, f == kSeqFlow ? PacketType::seqpacket : PacketType::stream,
                                shape.buf_alloc);
            sockets_[f]->rcvlowat = shape.rcvlowat;
            arm(f);
        }
    }
    ~Script() {
        for (std::uint32_t f = 0; f < kFlows; ++f)
            sockets_[f]->wait_queue.finish_wait(sleepers_[f].entry);
    }

    Result run(const std::vector<Step>& steps) {
        for (const Step& step : steps)
            take(step);
        settle();
        for (std::uint32_t f = 0; f < kFlows; ++f) {
            read(f, 1 << 20);
            const Socket& sk = *sockets_[f];
            result_.ends[f] = std::to_string(int(sk.state)) + (sk.done ? " done" : "") +
                              (sk.reset ? " reset " : " ") + std::to_string(sk.peer_shutdown) +
                              " " + std::to_string(sockets_[f]->rx.buf_used());
        }
        for (const Header& h : rig_.replies())
            result_.replies.push_back(h);
        const Counters& c = rig_.me.counts;
        result_.drops = c.drops_short + c.drops_over_long + c.drops_bad_length +
                        c.drops_receive_limit + c.drops_no_socket + c.drops_closed;
        return result_;
    }
    const std::vector<std::uint64_t> batch_sizes() { return rig_.policy().batch_sizes(); }

  private:
    void take(const Step& step) {
        const std::uint32_t port = 100 + step.flow;
        const bool seq = step.flow == kSeqFlow;
        const PacketType type = seq ? PacketType::seqpacket : PacketType::stream;
        Header h = Rig::header(port, Op::rw, seq ? step.flags : 0, type);
        h.buf_alloc = step.room ? 262144 : 0;
        Socket& sk = *sockets_[step.flow];
        switch (step.kind) {
            case Kind::data:
                write(h, step.size, step.flags);
                break;
            case Kind::lying:
                h.len = step.size + 1;
                rig_.packet(h, payload(std::min(step.size, 3000U)),
                            std::min(step.size, 3000U) + 44);
                break;
            case Kind::short_:
                rig_.packet(h, {}, step.size % 44);
                break;
            case Kind::over_long:
                rig_.packet(h, {}, 3777 + step.size);
                break;
            case Kind::rst:
                h.op = Op::rst;
                rig_.packet(h, {});
                break;
            case Kind::shutdown:
                h.op = Op::shutdown;
                h.flags = step.flags;
                rig_.packet(h, {});
                break;
            case Kind::credit_request:
            case Kind::credit_update:
                h.op = step.kind == Kind::credit_request ? Op::credit_request : Op::credit_update;
                rig_.packet(h, {});
                break;
            case Kind::wrong_type:
                h.type = static_cast<PacketType>(step.flags == 0 ? 9 : seq ? 1 : 2);
                rig_.packet(h, payload(std::min(step.size, 100U)));
                break;
            case Kind::stranger:
                h.src_port = 77;
                rig_.packet(h, payload(std::min(step.size, 100U)));
                break;
            case Kind::replace:
                sk.data_ready = [](Socket& s, Current&) noexcept {
                    s.wait_queue.wake_up();  // as a callback that chains
                };
                break;
            case Kind::restore:
                sk.data_ready = &native_data_ready;
                sk.psock = nullptr;
                break;
            case Kind::sockmap:
                sk.psock = this;
                break;
            case Kind::flush:
                settle();
                break;
            case Kind::read:
                settle();
                read(step.flow, step.size);
                break;
        }
    }

    std::vector<std::byte> payload(std::uint32_t size) {
        static const Pattern pattern(1);
        const std::byte* from = pattern.at(next_);
        next_ = (next_ + size) % Pattern::kPeriod;
        return {from, from + size};
    }

    // A write of up to 64 KiB, cut as the device cuts it; EOM on the last packet only.
    void write(Header h, std::uint32_t size, std::uint32_t flags) {
        const bool seq = h.type == PacketType::seqpacket;
        do {
            const std::uint32_t piece = std::min(size, 3732U);
            size -= piece;
            h.flags = seq && size == 0 ? flags : 0;
            rig_.packet(h, payload(piece));
        } while (size != 0);
    }

    void arm(std::uint32_t f) {
        sockets_[f]->wait_queue.prepare_to_wait(sleepers_[f].entry, sleepers_[f].task);
    }

    // The worker runs out of used buffers: nothing may be held, nobody may be left asleep who
    // has reached his mark. Then the receivers look, and sleep again.
    void settle() {
        rig_.flush();
        for (std::uint32_t f = 0; f < kFlows; ++f) {
            Socket& sk = *sockets_[f];
            if (sk.lock.owned()) result_.fault = "a socket is still owned";
            const bool reached = sk.rx.bytes() >= sk.rcvlowat || sk.rx.messages() != 0 || sk.done;
            if (reached && !seen_[f] && sleepers_[f].entry.queued)
                result_.fault = "a receiver was left asleep";
            seen_[f] = reached;
            sk.wait_queue.finish_wait(sleepers_[f].entry);
            arm(f);
        }
    }

    void read(std::uint32_t f, std::uint32_t size) {
        Socket& sk = *sockets_[f];
        sk.wait_queue.finish_wait(sleepers_[f].entry);
        buffer_.resize(size + 1);
        const bool everything = size == 1 << 20;
        for (bool more = true; more;) {
            const Received got =
                f == kSeqFlow ? recv_message(rig_.ctx, sk, buffer_.data(), size, true, rig_.me)
                              : recv_stream(rig_.ctx, sk, buffer_.data(), size, true, rig_.me);
            more =
                everything && got.status == RecvStatus::data && (got.bytes != 0 || f == kSeqFlow);
            if (got.status != RecvStatus::data) break;
            result_.bytes[f].append(reinterpret_cast<const char*>(buffer_.data()), got.bytes);
            if (f == kSeqFlow)
                result_.records[f].push_back(got.message_bytes * 2 + got.end_of_record);
        }
        const std::uint32_t used = sk.rx.buf_used();
        if (used > sk.rx.buf_alloc()) result_.fault = "credit went negative";
        seen_[f] = false;
        arm(f);
        seen_[f] = sk.rx.bytes() >= sk.rcvlowat || sk.rx.messages() != 0 || sk.done;
        for (const Header& h : rig_.replies())
            result_.replies.push_back(h);
    }

    Rig rig_;
    Shape shape_;
    std::array<Socket*, kFlows> sockets_{};
    std::array<Sleeper, kFlows> sleepers_;
    std::array<bool, kFlows> seen_{};  // the mark was reached when last looked
    std::vector<std::byte> buffer_;
    std::uint32_t next_ = 0;
    Result result_;
};

class PolicyProperty : public testing::TestWithParam<std::string_view> {};

TEST_P(PolicyProperty, DeliversWhatPerPacketDelivers) {
    const bool holds = rc::check(std::string(GetParam()) + " against per-packet", [&] {
        const Shape shape = *any_shape();
        const auto count = *rc::gen::inRange(1, 120);
        const auto steps =
            *rc::gen::container<std::vector<Step>>(static_cast<std::size_t>(count), any_step());
        const Result expected = Script("per-packet", shape).run(steps);
        RC_ASSERT(expected.fault == "");
        Script script(GetParam(), shape);
        const Result got = script.run(steps);
        RC_ASSERT(got.fault == "");
        for (std::uint32_t f = 0; f < kFlows; ++f) {
            RC_ASSERT(got.bytes[f] == expected.bytes[f]);
            RC_ASSERT(got.records[f] == expected.records[f]);
            RC_ASSERT(got.ends[f] == expected.ends[f]);
        }
        RC_ASSERT(got.replies == expected.replies);
        RC_ASSERT(got.drops == expected.drops);
        const auto sizes = script.batch_sizes();
        RC_ASSERT(sizes.size() == shape.limits.max_pkts + 1);
    });
    EXPECT_TRUE(holds);
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyProperty,
                         testing::Values("lock-batch", "coalesce-write-space", "deferred-notify"),
                         [](const auto& p) { return test_name_of(p.param); });

}  // namespace
}  // namespace vsb::engine
