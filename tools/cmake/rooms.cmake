# Defines helper functions for the CMakeLists.txt of the rooms (the top-level folders): products, tests and loadable libraries.

# Libraries follow one of two contracts: the functions of an index library, or those of a structure. With the thread sanitizer,
# only some of the contracts' tests run, mainly those that make concurrent calls.
set(KEYDROME_CONTRACT_FILTER)
set(KEYDROME_STRUCTURE_FILTER)
if(KEYDROME_SANITIZE STREQUAL "thread")
  set(KEYDROME_CONTRACT_FILTER --gtest_filter=*Concurrent*:*Directory*)
  set(KEYDROME_STRUCTURE_FILTER --gtest_filter=-*RandomOperations*:*BulkLoads*:*Churn*)
endif()

# keydrome_product(TARGET): marks a target as needed by a site or a contestant, so that `./dev up` builds it.
# tests/test_products.py compares the marked targets with the files that the runner, the code that executes runs, needs.
function(keydrome_product target)
  set_property(GLOBAL APPEND PROPERTY KEYDROME_PRODUCTS ${target})
endfunction()

# keydrome_static_libraries(RESULT TARGETS...): sets RESULT to the static libraries of this project. They are taken from the
# targets and from everything that the targets link.
function(keydrome_static_libraries result)
  set(found "")
  set(waiting ${ARGN})
  while(waiting)
    list(POP_FRONT waiting library)
    if(NOT TARGET ${library} OR library IN_LIST found)
      continue()
    endif()
    get_target_property(type ${library} TYPE)
    get_target_property(imported ${library} IMPORTED)
    if(NOT type STREQUAL "STATIC_LIBRARY" OR imported)
      continue()
    endif()
    list(APPEND found ${library})
    get_target_property(linked ${library} LINK_LIBRARIES)
    list(APPEND waiting ${linked})
  endwhile()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# keydrome_link_first(TARGET LIBRARIES...): puts the static libraries before the target's own objects on the linker's command
# line. Of a template or an inline function that several objects contain, the linker keeps the first copy. Without this order it
# would keep the copies of the tests, which are not optimised, and the optimised libraries would call them. benchmarks_test then
# took almost twice as long.
function(keydrome_link_first target)
  keydrome_static_libraries(libraries ${ARGN})
  if(libraries)
    list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>")
    target_link_options(${target} PRIVATE LINKER:--whole-archive ${libraries} LINKER:--no-whole-archive)
  endif()
endfunction()

# keydrome_test_program(NAME [SINGLE_THREADED] SOURCES... [LIBRARIES ...]): adds a program with GoogleTest in
# build/PRESET/tests. A SINGLE_THREADED program is left out of builds with the thread sanitizer.
function(keydrome_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SINGLE_THREADED" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest Threads::Threads)
  keydrome_link_first(${name} ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_options(${name} PRIVATE ${KEYDROME_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM precompiled_test)
  if(arg_SINGLE_THREADED AND KEYDROME_SANITIZE STREQUAL "thread")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  else()
    set_property(GLOBAL APPEND PROPERTY KEYDROME_TESTS ${name})
  endif()
endfunction()

# keydrome_test(NAME [SINGLE_THREADED] SOURCES... [LIBRARIES ...] [ARGUMENTS ...]): adds a program as keydrome_test_program does,
# and makes ctest run it with ARGUMENTS.
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

# keydrome_library_module(NAME KIND SOURCES... [LIBRARIES ...]): adds a shared library that the harness, the code that
# makes the calls, loads with dlopen. Its file is build/PRESET/lib/KIND/NAME.so.
function(keydrome_library_module name kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LIBRARIES")
  set(target ${kind}_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE api ${arg_LIBRARIES} Threads::Threads)
  target_link_options(${target} PRIVATE LINKER:-z,now LINKER:-z,relro LINKER:--exclude-libs,ALL)
  # Symbols are exported by default, because the contracts' functions have no visibility attribute. So entries of the
  # SIGMOD 2009 programming contest compile unchanged.
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name}
    C_VISIBILITY_PRESET default CXX_VISIBILITY_PRESET default
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/${kind})
  if(kind MATCHES "^(indexes|structures|runtime)$")
    keydrome_product(${target})
  endif()
endfunction()
