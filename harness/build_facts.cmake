# Writes build_facts.cpp when what it says has changed; run at every build.
#   cmake -DSOURCE=... -DOUT=... -DVERSION=... -DCOMPILER=... -DBUILD_TYPE=... -P build_facts.cmake
set(commit "")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(commit)
    execute_process(COMMAND ${GIT} -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE dirty ERROR_QUIET)
    if(dirty)
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
#include "harness/build_facts.h"

namespace vsb::harness {

const char* const kVersion = "@VERSION@";
const char* const kCommit = "@commit@";
const char* const kCompiler = "@COMPILER@";
const char* const kBuildType = "@BUILD_TYPE@";

}  // namespace vsb::harness
]])
