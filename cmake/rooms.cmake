# vsb_library(NAME SOURCES... LINK...): a static library of one room.
# vsb_tests(ROOM SOURCES... LINK...): the room's one GoogleTest program, <room>_tests. A test whose
# suite name ends in a label's word gets that label: FooSlow -> slow, FooReference -> reference,
# FooGolden -> golden, FooHost -> host; every other test is labelled unit.
# vsb_benchmark(NAME SOURCES... LINK...): a Google Benchmark program, built with `all`, run by the
# target `benchmarks`.
include(GoogleTest)

add_custom_target(benchmarks)

function(vsb_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC vsb_options ${arg_LINK})
endfunction()

# Every test includes GoogleTest, which takes longer to read than most tests: it is read once.
function(vsb_test_headers)
  if(TARGET vsb_test_headers)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cpp
    CONTENT "// only its precompiled header is wanted\n")
  add_library(vsb_test_headers OBJECT ${CMAKE_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(vsb_test_headers PRIVATE vsb_options GTest::gmock GTest::gtest)
  target_compile_options(vsb_test_headers PRIVATE -O0)
  target_precompile_headers(vsb_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <filesystem>)
endfunction()

function(vsb_tests room)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${room}_tests ${arg_SOURCES})
  target_link_libraries(${room}_tests PRIVATE vsb_options ${arg_LINK} GTest::gmock_main GTest::gtest)
  # Test sources are many and run once: compiling them is what costs. The code under test keeps the
  # preset's optimisation.
  target_compile_options(${room}_tests PRIVATE -O0)
  vsb_test_headers()
  target_precompile_headers(${room}_tests REUSE_FROM vsb_test_headers)
  target_compile_definitions(${room}_tests PRIVATE
    VSB_SOURCE_DIR="${CMAKE_SOURCE_DIR}" VSB_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  set(special "*Slow.*:*Reference.*:*Golden.*:*Host.*")
  foreach(label IN ITEMS Slow Reference Golden Host)
    string(TOLOWER ${label} lower)
    gtest_discover_tests(${room}_tests TEST_FILTER "*${label}.*" TEST_PREFIX "${room}/"
      PROPERTIES LABELS "${lower};${room}" DISCOVERY_TIMEOUT 60)
  endforeach()
  gtest_discover_tests(${room}_tests TEST_FILTER "-${special}" TEST_PREFIX "${room}/"
    PROPERTIES LABELS "unit;${room}" DISCOVERY_TIMEOUT 60)
endfunction()

function(vsb_benchmark name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE vsb_options ${arg_LINK} benchmark::benchmark)
  add_custom_target(run_${name} COMMAND ${name} USES_TERMINAL)
  add_dependencies(benchmarks run_${name})
endfunction()
