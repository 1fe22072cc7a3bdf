#pragma once
// The folder of a nightly job: one folder a night, each file whole or not there, and `latest`.

#include <filesystem>
#include <string>
#include <string_view>

namespace vsb::cli {

// Holds the folder for this process alone, until the end of its life (or of the process: the lock
// is the kernel's). Made, with its parents, where it is missing.
class ReportFolder {
  public:
    // Throws Failure: 2 when it cannot be made or written, 3 when another process holds it.
    explicit ReportFolder(std::filesystem::path path);
    ReportFolder(const ReportFolder&) = delete;
    ReportFolder& operator=(const ReportFolder&) = delete;
    ~ReportFolder();

    // PATH/night/name: written beside, flushed to the disk and moved over what was there. Throws
    // Failure (3), nothing half written.
    void write(const std::string& night, const std::string& name, std::string_view text) const;
    // Makes PATH/latest a link to the night. Throws Failure (3).
    void point_latest(const std::string& night) const;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
    int lock_ = -1;
};

}  // namespace vsb::cli
