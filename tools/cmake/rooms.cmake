# Helpers that keep each room's CMakeLists.txt to what is particular about it.

# The thread sanitizer's part of the contract's test: the rest makes one call at a time.
set(KEYDROME_CONTRACT_FILTER)
if(KEYDROME_SANITIZE STREQUAL "thread")
  set(KEYDROME_CONTRACT_FILTER --gtest_filter=*Concurrent*:*Directory*)
endif()

# keydrome_test(NAME [SINGLE_THREADED] SOURCES... [LIBRARIES ...] [ARGUMENTS ...]): one GoogleTest program, run by ctest.
# SINGLE_THREADED: there is nothing in it for the thread sanitizer, which leaves it out.
# Tests that start threads are labelled by the sanitizer presets' own choice of targets, not here.
function(keydrome_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SINGLE_THREADED" "" "SOURCES;LIBRARIES;ARGUMENTS")
  find_package(GTest REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main Threads::Threads)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(KEYDROME_SANITIZE)
    # The code under test keeps the preset's -O1; its tests compile in half the time without.
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(arg_SINGLE_THREADED AND KEYDROME_SANITIZE STREQUAL "thread")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900)
endfunction()

# keydrome_library_module(NAME KIND SOURCES... [LIBRARIES ...]): a shared library that the harness meets
# through dlopen only; it lands in build/PRESET/lib/KIND/NAME.so.
function(keydrome_library_module name kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LIBRARIES")
  set(target ${kind}_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE api ${arg_LIBRARIES} Threads::Threads)
  target_link_options(${target} PRIVATE LINKER:-z,now LINKER:-z,relro LINKER:--exclude-libs,ALL)
  # The contracts' functions carry no visibility attribute, so that 2009 entries compile unchanged: export by default.
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name}
    C_VISIBILITY_PRESET default CXX_VISIBILITY_PRESET default
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/${kind})
  if(kind MATCHES "^(indexes|structures|runtime)$")
    set_property(GLOBAL APPEND PROPERTY KEYDROME_PRODUCTS ${target})
  endif()
endfunction()
