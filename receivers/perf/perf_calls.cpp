#include "receivers/perf/perf_calls.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vsb::perf {

int PerfCalls::open(perf_event_attr& attr, pid_t pid, int cpu, int group_fd) {
    return static_cast<int>(
        ::syscall(SYS_perf_event_open, &attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC));
}

int PerfCalls::control(int fd, unsigned long request) {
    return ::ioctl(fd, request, PERF_IOC_FLAG_GROUP);
}

ssize_t PerfCalls::read(int fd, void* buffer, std::size_t size) {
    return ::read(fd, buffer, size);
}

void PerfCalls::close(int fd) {
    ::close(fd);
}

PerfCalls& system_perf_calls() {
    static PerfCalls calls;
    return calls;
}

}  // namespace vsb::perf
