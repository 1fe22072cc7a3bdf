#pragma once
// A thread of control with a stack of its own, switched to by hand on one thread of the system.
// Source: makecontext(3); the first entry is a swapcontext, every later switch a setjmp and
// longjmp, which spare the two system calls a swapcontext makes. Address- and ThreadSanitizer are
// told.

#include <csetjmp>
#include <cstddef>
#include <functional>

#include <ucontext.h>

namespace vsb::engine {

class Fiber {
  public:
    // The calling thread itself, to be switched back to.
    Fiber();
    // `body` begins at the first switch and must end in a switch to a fiber that is not it; it may
    // not throw. Throws std::system_error when the stack cannot be mapped.
    explicit Fiber(std::function<void()> body);
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Goes on in this fiber, leaving `from`, the one that runs. Returns when somebody switches to
    // `from`. `last`: from ends here.
    void switch_from(Fiber& from, bool last = false) noexcept;

  private:
    static void enter(unsigned high, unsigned low) noexcept;
    void announce(Fiber& from, bool last) noexcept;
    void arrived() noexcept;

    std::function<void()> body_;
    std::byte* mapping_ = nullptr;
    bool entered_ = true;
    ucontext_t context_{};
    jmp_buf jump_{};
    // Of the sanitizers.
    Fiber* came_from_ = nullptr;
    const void* stack_ = nullptr;
    std::size_t stack_bytes_ = 0;
    void* fake_stack_ = nullptr;
    void* tsan_ = nullptr;
};

}  // namespace vsb::engine
