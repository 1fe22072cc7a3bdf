# cmake -DBUILD=... -DCONSUMER=... -DWORK=... -P consumer_test.cmake
# Installs the stats package into an empty folder and builds and runs a program against it, once by
# find_package and, where there is pkg-config, once by its flags.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    string(REPLACE ";" " " line "${ARGN}")
    message(FATAL_ERROR "${line}: ended with ${code}\n${out}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component vsockbench-stats)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)

find_program(PKG_CONFIG pkg-config)
if(NOT PKG_CONFIG)
  message(STATUS "no pkg-config here: its half is not tested")
  return()
endif()
file(GLOB_RECURSE pc ${WORK}/prefix/*.pc)
get_filename_component(pc_folder "${pc}" DIRECTORY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_folder}
                ${PKG_CONFIG} --cflags --libs vsockbench-stats
                OUTPUT_VARIABLE flags RESULT_VARIABLE code OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "pkg-config does not find vsockbench-stats in ${pc_folder}")
endif()
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${CXX} ${CONSUMER}/consumer.cpp ${flags} -o ${WORK}/by_pkg_config)
run(${WORK}/by_pkg_config)
