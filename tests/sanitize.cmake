# Builds the named test programs in a sanitizer's preset and runs their short form.
#   cmake -DROOT=. -DPRESET=asan "-DPROGRAMS=engine_tests stats_tests" -P sanitize.cmake
# The build folder is build/<preset>: a second call compiles only what changed.
cmake_minimum_required(VERSION 3.25)
separate_arguments(PROGRAMS)

function(step what)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${ROOT} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${PRESET}: ${what} failed (${code})")
  endif()
endfunction()

step("configuring" ${CMAKE_COMMAND} --preset ${PRESET})
step("building" ${CMAKE_COMMAND} --build build/${PRESET} --target ${PROGRAMS})

set(ENV{ASAN_OPTIONS} "detect_stack_use_after_return=1:check_initialization_order=1")
set(ENV{UBSAN_OPTIONS} "print_stacktrace=1")
set(ENV{TSAN_OPTIONS} "second_deadlock_stack=1")
foreach(program IN LISTS PROGRAMS)
  message("${PRESET}: ${program}")
  # Suites ending in Host start the tools or programs of the release build; Slow and Reference say
  # nothing more under a sanitizer than they do without.
  step("${program}" build/${PRESET}/bin/${program} --gtest_brief=1
    "--gtest_filter=-*Slow.*:*Reference.*:*Host.*")
endforeach()
