# Helpers that keep each room's CMakeLists.txt to what is particular about it.

# The thread sanitizer's part of the contracts' tests: the rest makes one call at a time.
set(KEYDROME_CONTRACT_FILTER)
set(KEYDROME_STRUCTURE_FILTER)
if(KEYDROME_SANITIZE STREQUAL "thread")
  set(KEYDROME_CONTRACT_FILTER --gtest_filter=*Concurrent*:*Directory*)
  set(KEYDROME_STRUCTURE_FILTER --gtest_filter=-*RandomOperations*:*BulkLoads*)
endif()

# keydrome_product(TARGET): part of what a site or a contestant needs, which `./dev up` builds. tests/test_products.py
# compares that with what the runner asks for.
function(keydrome_product target)
  set_property(GLOBAL APPEND PROPERTY KEYDROME_PRODUCTS ${target})
endfunction()

# keydrome_test_program(NAME [SINGLE_THREADED] SOURCES... [LIBRARIES ...]): a program with GoogleTest in
# build/PRESET/tests. SINGLE_THREADED: there is nothing in it for the thread sanitizer, which leaves it out.
function(keydrome_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SINGLE_THREADED" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_options(${name} PRIVATE ${KEYDROME_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM precompiled_test)
  if(arg_SINGLE_THREADED AND KEYDROME_SANITIZE STREQUAL "thread")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  else()
    set_property(GLOBAL APPEND PROPERTY KEYDROME_TESTS ${name})
  endif()
endfunction()

# keydrome_test(NAME [SINGLE_THREADED] SOURCES... [LIBRARIES ...] [ARGUMENTS ...]): such a program, run by ctest.
function(keydrome_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SINGLE_THREADED" "" "SOURCES;LIBRARIES;ARGUMENTS")
  set(single_threaded)
  if(arg_SINGLE_THREADED)
    set(single_threaded SINGLE_THREADED)
  endif()
  keydrome_test_program(${name} ${single_threaded}
    SOURCES ${arg_SOURCES} LIBRARIES ${arg_LIBRARIES} GTest::gtest_main)
  get_target_property(left_out ${name} EXCLUDE_FROM_ALL)
  if(NOT left_out)
    add_test(NAME ${name} COMMAND ${name} ${arg_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
  endif()
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
    keydrome_product(${target})
  endif()
endfunction()
