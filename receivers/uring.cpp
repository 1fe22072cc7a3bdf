#include "receivers/uring.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "transport/errors.h"

namespace vsb::receivers {
namespace {

constexpr unsigned kEntries = 4;

void* map_ring(int fd, std::size_t size, off_t offset) {
    return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
}

template <class T>
T* at(void* base, unsigned offset) {
    return reinterpret_cast<T*>(static_cast<char*>(base) + offset);
}

}  // namespace

Uring::Uring() {
    io_uring_params params{};
    fd_ = static_cast<int>(::syscall(SYS_io_uring_setup, kEntries, &params));
    if (fd_ < 0) {
        throw transport::Unavailable(
            std::string("io_uring is not to be had here: ") + std::strerror(errno) +
            " (kernel.io_uring_disabled, a seccomp filter, or a kernel without it)");
    }
    try {
        map(params);
    } catch (...) {
        unmap();
        throw;
    }
}

void Uring::map(const io_uring_params& params) {
    sq_ring_size_ = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    cq_ring_size_ = params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe);
    sqes_size_ = params.sq_entries * sizeof(io_uring_sqe);
    const auto checked = [](void* ring) {
        if (ring == MAP_FAILED) transport::throw_errno(errno, "mapping the rings of io_uring");
        return ring;
    };
    sq_ring_ = checked(map_ring(fd_, sq_ring_size_, IORING_OFF_SQ_RING));
    cq_ring_ = checked(map_ring(fd_, cq_ring_size_, IORING_OFF_CQ_RING));
    sqes_ = static_cast<io_uring_sqe*>(checked(map_ring(fd_, sqes_size_, IORING_OFF_SQES)));
    sq_tail_ = at<unsigned>(sq_ring_, params.sq_off.tail);
    sq_array_ = at<unsigned>(sq_ring_, params.sq_off.array);
    sq_mask_ = *at<unsigned>(sq_ring_, params.sq_off.ring_mask);
    cq_head_ = at<unsigned>(cq_ring_, params.cq_off.head);
    cq_tail_ = at<unsigned>(cq_ring_, params.cq_off.tail);
    cq_mask_ = *at<unsigned>(cq_ring_, params.cq_off.ring_mask);
    cqes_ = at<io_uring_cqe>(cq_ring_, params.cq_off.cqes);
}

void Uring::unmap() {
    if (sqes_ != nullptr) ::munmap(sqes_, sqes_size_);
    if (cq_ring_ != nullptr) ::munmap(cq_ring_, cq_ring_size_);
    if (sq_ring_ != nullptr) ::munmap(sq_ring_, sq_ring_size_);
    ::close(fd_);
}

Uring::~Uring() {
    unmap();
}

ssize_t Uring::recv(int fd, void* data, std::size_t size, int flags) {
    unsigned to_submit = 0;
    if (!submitted_) {
        const unsigned tail = *sq_tail_;
        const unsigned index = tail & sq_mask_;
        io_uring_sqe& sqe = sqes_[index];
        std::memset(&sqe, 0, sizeof sqe);
        sqe.opcode = IORING_OP_RECV;
        sqe.fd = fd;
        sqe.addr = reinterpret_cast<std::uintptr_t>(data);
        sqe.len = static_cast<std::uint32_t>(size);
        sqe.msg_flags = static_cast<std::uint32_t>(flags);
        sq_array_[index] = index;
        std::atomic_ref(*sq_tail_).store(tail + 1, std::memory_order_release);
        to_submit = 1;
        submitted_ = true;
    }
    for (;;) {
        const unsigned head = *cq_head_;
        if (head != std::atomic_ref(*cq_tail_).load(std::memory_order_acquire)) {
            const int result = cqes_[head & cq_mask_].res;
            std::atomic_ref(*cq_head_).store(head + 1, std::memory_order_release);
            submitted_ = false;
            if (result >= 0) return result;
            errno = -result;
            return -1;
        }
        // Interrupted while it waits, the call says how many it submitted: only a failure to
        // submit is an error, and then the entry is still in the ring.
        const long entered =
            ::syscall(SYS_io_uring_enter, fd_, to_submit, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
        if (entered < 0) {
            if (errno == EINTR || errno == EAGAIN) {
                errno = EINTR;
                return -1;
            }
            return -1;
        }
        to_submit = 0;
        // Submitted and interrupted: let the caller look around before waiting on.
        if (entered > 0 &&
            *cq_head_ == std::atomic_ref(*cq_tail_).load(std::memory_order_acquire)) {
            errno = EINTR;
            return -1;
        }
    }
}

}  // namespace vsb::receivers
