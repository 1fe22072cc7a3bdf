// A longjmp to another stack is what the fortified longjmp forbids.
#undef _FORTIFY_SOURCE

#include "engine/virtual/fiber.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VSB_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define VSB_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define VSB_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define VSB_TSAN 1
#endif
#if defined(VSB_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(VSB_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace vsb::engine {
namespace {

// The deepest call chain of a trial takes a few KiB; a sanitizer's frames several times that.
constexpr std::size_t kStackBytes = 256 << 10;
constexpr std::size_t kGuardBytes = 4096;

#if defined(VSB_ASAN) || defined(VSB_TSAN)
constexpr bool kJump = false;  // their longjmp looks for a frame on the stack it leaves
#else
constexpr bool kJump = true;
#endif

}  // namespace

Fiber::Fiber() {
#if defined(VSB_TSAN)
    tsan_ = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), entered_(false) {
    void* mapped = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapped == MAP_FAILED || mprotect(mapped, kGuardBytes, PROT_NONE) != 0) {
        const int error = errno;
        if (mapped != MAP_FAILED) munmap(mapped, kGuardBytes + kStackBytes);
        throw std::system_error(error, std::generic_category(), "mapping a fiber's stack");
    }
    mapping_ = static_cast<std::byte*>(mapped);
    stack_ = mapping_ + kGuardBytes;
    stack_bytes_ = kStackBytes;
    getcontext(&context_);
    context_.uc_stack.ss_sp = mapping_ + kGuardBytes;
    context_.uc_stack.ss_size = kStackBytes;
    context_.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    // makecontext passes ints.
    makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
                static_cast<unsigned>(std::uint64_t{self} >> 32),
                static_cast<unsigned>(self & 0xffffffffU));
#if defined(VSB_TSAN)
    tsan_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
    if (mapping_ == nullptr) return;
#if defined(VSB_TSAN)
    __tsan_destroy_fiber(tsan_);
#endif
    munmap(mapping_, kGuardBytes + kStackBytes);
}

void Fiber::enter(unsigned high, unsigned low) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): makecontext passes ints
    auto* self = reinterpret_cast<Fiber*>(
        static_cast<std::uintptr_t>((std::uint64_t{high} << 32) | std::uint64_t{low}));
    self->arrived();
    self->body_();
    std::abort();  // the body's last act is a switch
}

// AddressSanitizer keeps locals on a stack of its own, which ends with its fiber: what runs between
// the announcement and the switch must have none there.
#if defined(VSB_ASAN)
#define VSB_ON_THE_REAL_STACK __attribute__((no_sanitize("address")))
#else
#define VSB_ON_THE_REAL_STACK
#endif

// Tells the sanitizers that the stack is about to change, and that it has.
VSB_ON_THE_REAL_STACK void Fiber::announce(Fiber& from, bool last) noexcept {
    came_from_ = &from;
#if defined(VSB_ASAN)
    __sanitizer_start_switch_fiber(last ? nullptr : &from.fake_stack_, stack_, stack_bytes_);
#endif
#if defined(VSB_TSAN)
    __tsan_switch_to_fiber(tsan_, 0);
#endif
    static_cast<void>(last);
}

void Fiber::arrived() noexcept {
#if defined(VSB_ASAN)
    __sanitizer_finish_switch_fiber(fake_stack_, &came_from_->stack_, &came_from_->stack_bytes_);
#endif
}

VSB_ON_THE_REAL_STACK void Fiber::switch_from(Fiber& from, bool last) noexcept {
    announce(from, last);
    const bool first = !std::exchange(entered_, true);
    if (!kJump) {
        swapcontext(&from.context_, &context_);
    } else if (_setjmp(from.jump_) == 0) {
        if (first)
            setcontext(&context_);
        else
            _longjmp(jump_, 1);
    }
    from.arrived();
}

}  // namespace vsb::engine
