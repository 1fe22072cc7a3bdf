#include "harness/guest/host_programs.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace vsb::guest {
namespace {

constexpr std::size_t kMaxOutput = 1 << 20;
constexpr std::size_t kMaxFile = 16 << 20;
constexpr int kLookMs = 50;

// What comes until the end of the pipe. False: `give_up` said so first.
template <typename GiveUp>
bool read_all(int fd, std::string& text, const GiveUp& give_up) {
    for (;;) {
        if (give_up()) return false;
        pollfd one{fd, POLLIN, 0};
        if (poll(&one, 1, kLookMs) <= 0) continue;
        std::array<char, 4096> block{};
        const ssize_t n = read(fd, block.data(), block.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return true;
        text.append(block.data(), std::min(static_cast<std::size_t>(n), kMaxOutput - text.size()));
    }
}

}  // namespace

// A guest's "/vsb-sender" is a tool of ours, its "/tmp/..." a file in our folder.
std::string HostPrograms::own_path(const std::string& path) const {
    constexpr std::string_view kTmp = "/tmp/";
    return path.starts_with(kTmp) ? scratch_ + '/' + path.substr(kTmp.size()) : path;
}

std::uint64_t HostPrograms::start(const std::vector<std::string>& argv, const std::string& file) {
    auto [ours, theirs] = make_pipe();
    SpawnPlan plan;
    for (const std::string& word : argv)
        plan.argv.push_back(own_path(word));
    plan.argv.at(0) = programs_ + plan.argv[0];
    plan.fds = {{theirs.get(), 1}, {theirs.get(), 2}};
    Running run;
    run.child = std::make_unique<Child>(plan);
    run.output = std::move(ours);
    if (!file.empty()) run.file = own_path(file);
    running_.emplace(next_id_, std::move(run));
    return next_id_++;
}

GuestRun HostPrograms::finish(std::uint64_t id, std::uint64_t deadline_ns,
                              const std::function<bool()>& stop) {
    Running running = std::move(running_.at(id));
    running_.erase(id);
    GuestRun run;
    std::string why;
    const bool ended = read_all(running.output.get(), run.output, [&] {
        if (stop && stop()) why = "interrupted";
        if (monotonic_ns() >= deadline_ns) why = "a program on this machine did not end in time";
        return !why.empty();
    });
    if (!ended) throw std::runtime_error(why);
    const std::uint64_t now = monotonic_ns();
    const auto status = running.child->wait(std::max(deadline_ns, now + 1'000'000'000) - now);
    if (!status) throw std::runtime_error("a program on this machine did not end in time");
    run.status = status->status;
    run.signal = status->signal;
    if (!running.file.empty()) {
        std::ifstream file(running.file, std::ios::binary);
        run.file.resize(kMaxFile);
        file.read(run.file.data(), static_cast<std::streamsize>(run.file.size()));
        run.file.resize(static_cast<std::size_t>(file.gcount()));
        std::error_code ignored;
        std::filesystem::remove(running.file, ignored);
    }
    return run;
}

}  // namespace vsb::guest
