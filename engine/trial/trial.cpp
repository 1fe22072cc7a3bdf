#include "engine/trial/trial.h"

#include <unistd.h>

#include <exception>
#include <set>
#include <utility>

#include "engine/sync/clock.h"
#include "engine/sync/crew.h"
#include "engine/sync/placement.h"

namespace vsb::engine::trial {
namespace {

// The CPUs of pinned roles, after saying which are shared.
std::vector<int> cpus_of(const std::vector<Role>& roles, std::vector<Warning>& warnings) {
    const std::size_t allowed = is_virtual() ? 0 : allowed_cpus().size();
    if (allowed != 0 && roles.size() > allowed) {
        warnings.push_back({"oversubscribed", std::to_string(roles.size()) + " threads share " +
                                                  std::to_string(allowed) + " CPUs"});
    }
    std::set<int> used;
    for (const Role& role : roles) {
        if (role.cpu && !used.insert(*role.cpu).second) {
            warnings.push_back({"shared-cpu", "the " + role.name + " shares CPU " +
                                                  std::to_string(*role.cpu) +
                                                  " with another thread of the trial"});
        }
    }
    return {used.begin(), used.end()};
}

}  // namespace

Trial::Trial(std::uint64_t deadline_ns, std::function<bool()> stop) : stop_(std::move(stop)) {
    const std::uint64_t now = real_now_ns();
    deadline_ = deadline_ns > UINT64_MAX - now ? UINT64_MAX : now + deadline_ns;
}

void Trial::fail(const std::string& reason) noexcept {
    const std::lock_guard hold(mutex_);
    if (failure_.empty()) failure_ = reason;
    ended_.store(true, std::memory_order_seq_cst);
}

std::string Trial::failure() const {
    const std::lock_guard hold(mutex_);
    return failure_;
}

void Trial::play(const Role& role) noexcept {
    const pid_t self = gettid();
    try {
        if (role.starts) role.starts(self);
        if (!ended()) role.body(*role.task);
        if (role.ends) role.ends(self);
    } catch (const std::exception& error) {
        fail("the " + role.name + ": " + error.what());
    }
}

// The crew's stop: true once the trial is to end.
bool Trial::look() noexcept {
    try {
        if (!ended() && real_now_ns() >= deadline_)
            fail("deadline: the trial had not ended in time");
        if (!ended() && stop_ && stop_()) fail("interrupted");
    } catch (const std::exception& error) {
        fail(std::string("stop: ") + error.what());
    }
    return ended();
}

void Trial::run(bool idle_poll, std::vector<Warning>& warnings) {
    const std::vector<int> cpus = cpus_of(roles_, warnings);
    std::optional<IdlePollers> pollers;
    if (idle_poll) {
        pollers.emplace(cpus);
        if (const std::string refused = pollers->failure(); !refused.empty()) {
            fail("keeping CPUs awake: " + refused);
            return;
        }
        warnings.push_back({"idle-poll", std::to_string(cpus.size()) +
                                             " CPUs were kept awake by idle-priority spinners"});
    }
    tasks_ = std::make_unique<Task[]>(roles_.size());
    std::vector<Crew::Member> members;
    for (std::size_t i = 0; i < roles_.size(); ++i) {
        Role& role = roles_[i];
        if (role.task == nullptr) role.task = &tasks_[i];
        members.push_back({role.name, role.cpu, role.task, [this, &role] { play(role); }});
    }
    const Crew::Result result = Crew::run(members, deadline_, [this] { return look(); });
    if (!result.failure.empty()) fail(result.failure);
}

}  // namespace vsb::engine::trial
