#pragma once
// Kernels of Debian, fetched by apt-get into the cache and unpacked there, never installed.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vsb::guest {

struct Fetched {
    std::filesystem::path image;
    std::filesystem::path modules;
    std::filesystem::path config;  // may be empty
};

// name: debian, debian:SUITE or debian-uml. What the cache has is taken from it. Throws
// std::invalid_argument for a bad suite, KernelUnavailable when the download fails.
Fetched fetch_debian_kernel(const std::string& name, const std::filesystem::path& cache,
                            const std::function<void(const std::string&)>& say,
                            const std::function<bool()>& stop);

// Options that make apt use a private root with one suite of the Debian mirror instead of this
// machine's sources.
std::vector<std::string> private_apt_options(const std::filesystem::path& root);

// From `apt-cache show`: the package that a meta package depends on ("linux-image-6.1.0-38-amd64"
// of "linux-image-amd64"). nullopt: none.
std::optional<std::string> kernel_package_of(std::string_view control);

}  // namespace vsb::guest
