#pragma once
// What this program was built from and how; the values are the build's (harness/CMakeLists.txt).

namespace vsb::harness {

extern const char* const kVersion;    // "0.1.0"
extern const char* const kCommit;     // of the source tree, "-dirty" when changed; may be empty
extern const char* const kCompiler;   // "GNU 12.2.0"
extern const char* const kBuildType;  // "Release"

}  // namespace vsb::harness
