#include "engine/sync/crew.h"

#include <chrono>
#include <exception>
#include <system_error>

#include "engine/sync/clock.h"
#include "engine/sync/placement.h"
#include "engine/virtual/schedule.h"

namespace vsb::engine {
namespace {

// How often the watching thread looks at `stop`: rarely enough not to disturb what is measured.
constexpr std::chrono::milliseconds kLookEvery{20};

class Gate {
  public:
    enum class Verdict : std::uint8_t { go, abort };

    // A member is ready, or has failed to be.
    void arrive(std::string failure) {
        const std::scoped_lock lock(mutex_);
        ++arrived_;
        if (!failure.empty() && failure_.empty()) failure_ = std::move(failure);
        changed_.notify_all();
    }
    Verdict wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return verdict_.has_value(); });
        return *verdict_;
    }
    void leave(std::string failure) {
        const std::scoped_lock lock(mutex_);
        ++left_;
        if (!failure.empty() && failure_.empty()) failure_ = std::move(failure);
        changed_.notify_all();
    }
    Verdict open_when(std::size_t members) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return arrived_ >= members; });
        verdict_ = failure_.empty() ? Verdict::go : Verdict::abort;
        changed_.notify_all();
        return *verdict_;
    }
    void abort(std::string failure) {
        const std::scoped_lock lock(mutex_);
        failure_ = std::move(failure);
        verdict_ = Verdict::abort;
        changed_.notify_all();
    }
    bool wait_left(std::size_t members, std::chrono::nanoseconds limit) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, limit, [&] { return left_ >= members; });
    }
    std::string failure() {
        const std::scoped_lock lock(mutex_);
        return failure_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t arrived_ = 0;
    std::size_t left_ = 0;
    std::optional<Verdict> verdict_;
    std::string failure_;
};

void live(const Crew::Member& member, Gate& gate) {
    std::string failure;
    if (member.cpu) failure = pin_this_thread(*member.cpu);
    if (!failure.empty()) failure = "pinning the " + member.name + ": " + failure;
    gate.arrive(std::move(failure));
    failure.clear();
    if (gate.wait() == Gate::Verdict::go) {
        try {
            member.body();
            if (member.cpu) failure = check_pinned(*member.cpu);
            if (!failure.empty()) failure = "the " + member.name + " was moved: " + failure;
        } catch (const std::exception& e) {  // a hook of the caller
            failure = "the " + member.name + " failed: " + e.what();
        }
    }
    gate.leave(std::move(failure));
}

}  // namespace

Crew::Result Crew::run(const std::vector<Member>& members, std::uint64_t deadline_ns,
                       const std::function<bool()>& stop) {
    if (is_virtual()) {
        const std::uint64_t now = real_now_ns();
        return t_schedule->run(members, deadline_ns > now ? deadline_ns - now : 0, stop);
    }
    Result result;
    Gate gate;
    std::exception_ptr stop_threw;
    {
        std::vector<std::jthread> threads;
        threads.reserve(members.size());
        try {
            for (const Member& member : members)
                threads.emplace_back([&member, &gate] { live(member, gate); });
        } catch (const std::system_error& e) {
            gate.abort(std::string("starting a thread: ") + e.what());
            return {End::could_not_start, gate.failure()};
        }
        if (gate.open_when(members.size()) == Gate::Verdict::abort)
            return {End::could_not_start, gate.failure()};

        bool given_up = false;
        for (;;) {
            const std::uint64_t now = real_now_ns();
            const std::uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
            const std::chrono::nanoseconds look = kLookEvery;
            const auto limit = given_up ? look : std::min(look, std::chrono::nanoseconds(left));
            if (gate.wait_left(members.size(), limit)) break;
            if (!given_up) {
                try {
                    if (stop && stop())
                        result.end = End::stopped;
                    else if (real_now_ns() >= deadline_ns || !gate.failure().empty())
                        result.end = End::deadline;
                    else
                        continue;
                } catch (...) {
                    stop_threw = std::current_exception();
                    result.end = End::stopped;
                }
                given_up = true;
            }
            // More than once: a task may have been about to announce a sleep elsewhere.
            for (const Member& member : members)
                if (member.task != nullptr) member.task->interrupt();
        }
    }
    if (stop_threw) std::rethrow_exception(stop_threw);
    result.failure = gate.failure();
    return result;
}

}  // namespace vsb::engine
