#pragma once
// For tests: the real calls, but one of them, at a chosen occurrence, fails or does less.

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <string>

#include "transport/calls.h"

namespace vsb::transport::testing {

class FaultyCalls : public Calls {
  public:
    struct Fault {
        std::string call;      // "send"
        unsigned at = 0;       // its occurrence, from 0; every one from there on with `always`
        int error = 0;         // errno to fail with; 0 with `most`: do less
        std::size_t most = 0;  // send, recv: bytes at most
        bool always = false;
        bool flip = false;  // recv: change the first byte
        bool end = false;   // recv: return 0
    };
    FaultyCalls() = default;
    explicit FaultyCalls(Fault fault) : fault_(std::move(fault)) {}

    // How often a call was made.
    unsigned count(const std::string& call) const {
        const auto it = counts_.find(call);
        return it == counts_.end() ? 0 : it->second;
    }
    const std::map<std::string, unsigned>& counts() const { return counts_; }
    std::function<std::uint64_t()> clock;  // instead of the real one

    int socket(int family, int type) override {
        return hit("socket") ? fail() : Calls::socket(family, type);
    }
    int bind(int fd, const sockaddr* address, socklen_t size) override {
        return hit("bind") ? fail() : Calls::bind(fd, address, size);
    }
    int listen(int fd, int backlog) override {
        return hit("listen") ? fail() : Calls::listen(fd, backlog);
    }
    int accept(int fd, sockaddr* address, socklen_t* size) override {
        return hit("accept") ? fail() : Calls::accept(fd, address, size);
    }
    int connect(int fd, const sockaddr* address, socklen_t size) override {
        return hit("connect") ? fail() : Calls::connect(fd, address, size);
    }
    int getsockname(int fd, sockaddr* address, socklen_t* size) override {
        return hit("getsockname") ? fail() : Calls::getsockname(fd, address, size);
    }
    int set_nonblocking(int fd, bool on) override {
        return hit("set_nonblocking") ? fail() : Calls::set_nonblocking(fd, on);
    }
    ssize_t send(int fd, const void* data, std::size_t size, int flags) override {
        if (!hit("send")) return Calls::send(fd, data, size, flags);
        if (fault_.error != 0) return fail();
        return Calls::send(fd, data, std::min(size, fault_.most), flags);
    }
    ssize_t recv(int fd, void* data, std::size_t size, int flags) override {
        if (!hit("recv")) return Calls::recv(fd, data, size, flags);
        if (fault_.end) return 0;
        if (fault_.error != 0) return fail();
        const std::size_t most = fault_.most == 0 ? size : std::min(size, fault_.most);
        const ssize_t n = Calls::recv(fd, data, most, flags);
        if (fault_.flip && n > 0) *static_cast<unsigned char*>(data) ^= 1;
        return n;
    }
    ssize_t recvmsg(int fd, msghdr* message, int flags) override {
        return hit("recvmsg") ? fail() : Calls::recvmsg(fd, message, flags);
    }
    int poll(pollfd* fds, nfds_t count, int timeout_ms) override {
        return hit("poll") ? fail() : Calls::poll(fds, count, timeout_ms);
    }
    int shutdown(int fd, int how) override {
        return hit("shutdown") ? fail() : Calls::shutdown(fd, how);
    }
    std::uint64_t now_ns() override { return clock ? clock() : Calls::now_ns(); }

  private:
    bool hit(const char* call) {
        const unsigned occurrence = counts_[call]++;
        if (fault_.call != call) return false;
        return fault_.always ? occurrence >= fault_.at : occurrence == fault_.at;
    }
    int fail() const {
        errno = fault_.error;
        return -1;
    }
    Fault fault_;
    std::map<std::string, unsigned> counts_;
};

}  // namespace vsb::transport::testing
