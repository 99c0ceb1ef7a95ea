# keydrome_fuzz(NAME CORPUS FOLDER SOURCES...): adds a fuzz target, a program around libFuzzer's LLVMFuzzerTestOneInput. With the
# preset `fuzz` the program searches for inputs that break it (python -m tools.fuzz). With every other preset, ctest runs the
# program on the inputs in FOLDER: examples, and inputs that once showed a fault.
option(KEYDROME_FUZZ "Link fuzz targets with libFuzzer; needs clang" OFF)
add_custom_target(fuzz)

function(keydrome_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES")
  set(target ${name}_fuzz)
  set(sanitizers -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -g -O1)
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  if(KEYDROME_FUZZ)
    target_compile_options(${target} PRIVATE ${sanitizers})
    target_link_options(${target} PRIVATE ${sanitizers})
    add_dependencies(fuzz ${target})
  else()
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tools/cmake/fuzz_replay.c)
    file(GLOB inputs CONFIGURE_DEPENDS ${arg_CORPUS}/*)
    add_test(NAME ${target} COMMAND ${target} ${inputs})
    set_property(GLOBAL APPEND PROPERTY KEYDROME_TESTS ${target})
  endif()
endfunction()
