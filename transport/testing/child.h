#pragma once
// For tests: a program run as a child, its output collected, killed when it takes too long.

#include <sys/types.h>

#include <string>
#include <vector>

namespace vsb::transport::testing {

class Child {
  public:
    // argv[0] is the path of the program; Descriptor
    // 3 of the child is the ready pipe. With `root` the child is put into that folder by chroot.
    explicit Child(std::vector<std::string> argv, const std::string& root = {});
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // The first line of the ready pipe, "READY 1234"; empty when it closed without one. Waits for
    // 20 s at most.
    std::string ready();
    // Returns once `text` was printed, or nothing more will be (20 s at most).
    void wait_for_out(const std::string& text) { wait_for(out_fd_, out_, text); }
    void wait_for_err(const std::string& text) { wait_for(err_fd_, err_, text); }
    // Exit code, or 128 + the signal. Kills after `seconds`.
    int wait(int seconds = 30);
    void kill();

    pid_t pid() const { return pid_; }
    const std::string& out() const { return out_; }
    const std::string& err() const { return err_; }

  private:
    static void wait_for(int fd, std::string& so_far, const std::string& text);
    pid_t pid_ = -1;
    int out_fd_ = -1;
    int err_fd_ = -1;
    int ready_fd_ = -1;
    std::string out_;
    std::string err_;
};

// A new folder under /tmp, removed with what is in it.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// VSB_BIN_DIR/name.
std::string program(const char* bin_dir, const char* name);

}  // namespace vsb::transport::testing
