# One interface target carries the warnings and the sanitizer flags of every target of ours.
option(VSB_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)
set(VSB_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined or thread")

add_library(vsb_options INTERFACE)
target_compile_options(vsb_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual)
target_include_directories(vsb_options INTERFACE ${CMAKE_SOURCE_DIR})
if(VSB_WARNINGS_AS_ERRORS)
  target_compile_options(vsb_options INTERFACE -Werror)
endif()
if(VSB_SANITIZE)
  target_compile_options(vsb_options INTERFACE
    -fsanitize=${VSB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1)
  target_link_options(vsb_options INTERFACE -fsanitize=${VSB_SANITIZE})
endif()
