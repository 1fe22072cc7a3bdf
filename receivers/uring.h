#pragma once
// io_uring for one thread and one receive at a time, by raw system calls (io_uring(7)).

#include <linux/io_uring.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace vsb::receivers {

class Uring {
  public:
    // Throws transport::Unavailable where the kernel has none or allows none.
    Uring();
    ~Uring();
    Uring(const Uring&) = delete;
    Uring& operator=(const Uring&) = delete;

    // As recv(): the count, or -1 with errno. After EINTR the receive is still under way: the next
    // call, which must have the same arguments, goes on waiting for it.
    ssize_t recv(int fd, void* data, std::size_t size, int flags);

  private:
    void map(const io_uring_params& params);
    void unmap();

    int fd_ = -1;
    bool submitted_ = false;
    void* sq_ring_ = nullptr;
    std::size_t sq_ring_size_ = 0;
    void* cq_ring_ = nullptr;
    std::size_t cq_ring_size_ = 0;
    io_uring_sqe* sqes_ = nullptr;
    std::size_t sqes_size_ = 0;
    unsigned* sq_tail_ = nullptr;
    unsigned* sq_array_ = nullptr;
    unsigned sq_mask_ = 0;
    unsigned* cq_head_ = nullptr;
    unsigned* cq_tail_ = nullptr;
    unsigned cq_mask_ = 0;
    io_uring_cqe* cqes_ = nullptr;
};

}  // namespace vsb::receivers
