#include "transport/sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "transport/errors.h"
#include "transport/testing/child.h"
#include "transport/testing/faulty_calls.h"

namespace vsb::transport {
namespace {

using testing::FaultyCalls;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::uint64_t after_ms(std::uint64_t ms) {
    return system_calls().now_ns() + ms * 1000000;
}

TEST(Sockets, TcpTakesAFreePortAndConnects) {
    Listener listener(system_calls(), parse_endpoint("tcp:127.0.0.1:0"), {});
    ASSERT_NE(listener.endpoint().port, 0u);
    const Descriptor client = connect_to(system_calls(), listener.endpoint(), {}, after_ms(5000));
    const Descriptor server = listener.accept(after_ms(5000), "a test");
    EXPECT_EQ(system_calls().send(client.get(), "x", 1, 0), 1);
    char c = 0;
    EXPECT_EQ(system_calls().recv(server.get(), &c, 1, 0), 1);
    EXPECT_EQ(c, 'x');
}

TEST(Sockets, AUnixPathIsRemovedAtTheEnd) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/s";
    {
        Listener listener(system_calls(), parse_endpoint("unix:" + path), {});
        EXPECT_EQ(::access(path.c_str(), F_OK), 0);
        // Another one neither takes the path nor removes it.
        EXPECT_THROW(Listener(system_calls(), parse_endpoint("unix:" + path), {}),
                     std::system_error);
        EXPECT_EQ(::access(path.c_str(), F_OK), 0);
    }
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(Sockets, ConnectTriesUntilTheDeadlineAndNamesThePeer) {
    const TemporaryFolder folder;
    FaultyCalls calls;
    try {
        connect_to(calls, parse_endpoint("unix:" + folder.path() + "/nobody"), {}, after_ms(30));
        FAIL();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code().value(), ENOENT);
        EXPECT_THAT(error.what(), HasSubstr(folder.path() + "/nobody"));
    }
    EXPECT_GT(calls.count("connect"), 1u);
}

TEST(Sockets, AcceptGivesUpAtTheDeadline) {
    const TemporaryFolder folder;
    Listener listener(system_calls(), parse_endpoint("unix:" + folder.path() + "/s"), {});
    try {
        listener.accept(after_ms(10), "the control connection");
        FAIL();
    } catch (const Failure& error) {
        EXPECT_THAT(error.what(), HasSubstr("nobody came for the control connection"));
    }
}

TEST(Sockets, SurviveWhatPasses) {
    const struct {
        const char* call;
        int error;
    } passing[] = {{"connect", EINTR},       {"connect", ECONNREFUSED},
                   {"connect", EAGAIN},      {"connect", ECONNRESET},
                   {"accept", EINTR},        {"accept", EAGAIN},
                   {"accept", ECONNABORTED}, {"poll", EINTR}};
    for (const auto& [call, error] : passing) {
        const TemporaryFolder folder;
        FaultyCalls calls({.call = call, .error = error});
        const Endpoint endpoint = parse_endpoint("unix:" + folder.path() + "/s");
        Listener listener(calls, endpoint, {});
        const Descriptor client = connect_to(calls, endpoint, {}, after_ms(5000));
        const Descriptor server = listener.accept(after_ms(5000), "a test");
        EXPECT_TRUE(client && server) << call << " " << error;
        EXPECT_GE(calls.count(call), 2u) << call << " " << error;
    }
}

TEST(Sockets, OtherErrorsNameTheOperation) {
    const struct {
        const char* call;
        int error;
        const char* text;
    } lasting[] = {{"socket", EMFILE, "opening a socket for tcp:127.0.0.1:"},
                   {"bind", EADDRINUSE, "binding to tcp:127.0.0.1:"},
                   {"listen", EADDRINUSE, "listening on"},
                   {"getsockname", ENOBUFS, "asking for the port"},
                   {"connect", EACCES, "connecting to tcp:127.0.0.1:"},
                   {"set_nonblocking", EBADF, "making blocking"},
                   {"accept", EMFILE, "accepting on"},
                   {"poll", ENOMEM, "waiting on"}};
    for (const auto& [call, error, text] : lasting) {
        FaultyCalls calls({.call = call, .error = error});
        try {
            Listener listener(calls, parse_endpoint("tcp:127.0.0.1:0"), {});
            const Descriptor client = connect_to(calls, listener.endpoint(), {}, after_ms(5000));
            listener.accept(after_ms(5000), "a test");
            ADD_FAILURE() << call;
        } catch (const std::system_error& caught) {
            if (std::string(call) == "poll") continue;  // whichever wait came first
            EXPECT_EQ(caught.code().value(), error) << call;
            EXPECT_THAT(caught.what(), HasSubstr(text));
        }
    }
}

// Nothing is ever sent to a CID here: bind() says that there is no loopback, and connect() must
// not be reached.
class NoVsock : public FaultyCalls {
  public:
    int bind_error = 0;
    int socket_error = 0;
    int socket(int family, int type) override {
        if (socket_error != 0) {
            errno = socket_error;
            return -1;
        }
        return FaultyCalls::socket(family == AF_VSOCK ? AF_UNIX : family, type);
    }
    int bind(int, const sockaddr* address, socklen_t) override {
        EXPECT_EQ(address->sa_family, AF_VSOCK);
        errno = bind_error;
        return -1;
    }
    int connect(int, const sockaddr*, socklen_t) override {
        ADD_FAILURE() << "a packet would have left for the hypervisor";
        errno = ENODEV;
        return -1;
    }
};

TEST(Sockets, WithoutLoopbackCid1IsNotConnectedTo) {
    NoVsock calls;
    calls.bind_error = EADDRNOTAVAIL;
    try {
        connect_to(calls, parse_endpoint("1"), {}, after_ms(10));
        FAIL();
    } catch (const Unavailable& error) {
        EXPECT_THAT(error.what(), HasSubstr("no vsock loopback"));
        EXPECT_EQ(exit_code_of(error), 4);
    }
    calls.socket_error = EAFNOSUPPORT;
    EXPECT_THROW(connect_to(calls, parse_endpoint("1"), {}, after_ms(10)), Unavailable);
}

}  // namespace
}  // namespace vsb::transport
