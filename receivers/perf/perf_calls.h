#pragma once
// The three system calls of hardware counters, as a seam for tests. Each returns what the system
// call returns and leaves the error in errno.

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>

namespace vsb::perf {

class PerfCalls {
  public:
    virtual ~PerfCalls() = default;
    virtual int open(perf_event_attr& attr, pid_t pid, int cpu, int group_fd);
    virtual int control(int fd, unsigned long request);  // PERF_EVENT_IOC_*, for the whole group
    virtual ssize_t read(int fd, void* buffer, std::size_t size);
    virtual void close(int fd);
};

PerfCalls& system_perf_calls();

}  // namespace vsb::perf
