# vsb_tool(NAME SOURCES... LINK...): a small program that must start in a guest whose initramfs
# holds nothing else, hence static; the sanitizers have no static form.
function(vsb_tool name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE vsb_options ${arg_LINK})
  if(NOT VSB_SANITIZE)
    target_link_options(${name} PRIVATE -static -Wl,--gc-sections $<$<CONFIG:Release>:-s>)
  endif()
endfunction()
