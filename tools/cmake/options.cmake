# Defines the compiler options of all targets: warnings, sanitizers and tuning. The presets choose among them.
option(KEYDROME_WERROR "Treat warnings as errors" ON)
set(KEYDROME_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread; empty for none")
set(KEYDROME_SANITIZE_EXCEPT "" CACHE STRING "Sanitizer checks to leave out because they slow the compiler down")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
endif()
if(KEYDROME_WERROR)
  add_compile_options(-Werror)
endif()
# Two flags that only GCC knows. The first makes GCC call memcpy for short copies of variable size. GCC would otherwise emit
# `rep movsq`, which takes some 30 cycles to start. The second aligns functions to cache lines, because otherwise the cost of a
# function depends on the code before it in its file. The difference was 1 of the 11 ns that a get of structures/null, a
# structure that does nothing, takes without concurrency control.
# The preset for clang-tidy switches both flags off.
option(KEYDROME_TUNE "Flags that only GCC knows" ON)
if(KEYDROME_TUNE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-mmemcpy-strategy=libcall:-1:noalign> -falign-functions=64)
endif()
# Tests are compiled without optimisation, which halves the time of compiling them. All other code is optimised as the preset
# says.
set(KEYDROME_TEST_OPTIONS -O0)
if(KEYDROME_SANITIZE)
  add_compile_options(-fsanitize=${KEYDROME_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KEYDROME_SANITIZE})
  if(KEYDROME_SANITIZE_EXCEPT)
    add_compile_options(-fno-sanitize=${KEYDROME_SANITIZE_EXCEPT})
  endif()
  # This macro makes randomised tests repeat less often, because memory errors and races show after few repetitions.
  add_compile_definitions(KEYDROME_SANITIZED)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC raises false alarms on instrumented code (std::variant). The other presets keep the warning.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
