#pragma once
// Owns one file descriptor and closes it through the seam.

#include <utility>

#include "transport/calls.h"

namespace vsb::transport {

class Descriptor {
  public:
    Descriptor() = default;
    Descriptor(Calls& calls, int fd) : calls_(&calls), fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept
        : calls_(other.calls_), fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            calls_ = other.calls_;
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    ~Descriptor() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void reset() {
        if (fd_ >= 0) calls_->close(std::exchange(fd_, -1));
    }

  private:
    Calls* calls_ = nullptr;
    int fd_ = -1;
};

}  // namespace vsb::transport
