# Warnings, sanitizers and thread-safety analysis, chosen by the presets.
option(KEYDROME_WERROR "Treat warnings as errors" ON)
set(KEYDROME_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread; empty for none")
set(KEYDROME_SANITIZE_EXCEPT "" CACHE STRING "Checks of theirs to leave out, for what they cost to compile")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
endif()
if(KEYDROME_WERROR)
  add_compile_options(-Werror)
endif()
# Copies of a few bytes whose number only the program knows: GCC writes them as `rep movsq` where it can bound the number,
# which takes some 30 cycles to start. libc's memcpy does not. And functions begin on cache lines, so that what a call costs
# does not depend on what stands before it in its file (a get of structures/null under `bare`: 1 ns of 11). Off in the
# preset whose commands clang-tidy reads.
option(KEYDROME_TUNE "Flags that only GCC knows" ON)
if(KEYDROME_TUNE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-mmemcpy-strategy=libcall:-1:noalign> -falign-functions=64)
endif()
# What is tested is compiled as the preset says; its tests compile in half the time without optimisation.
set(KEYDROME_TEST_OPTIONS -O0)
if(KEYDROME_SANITIZE)
  add_compile_options(-fsanitize=${KEYDROME_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KEYDROME_SANITIZE})
  if(KEYDROME_SANITIZE_EXCEPT)
    add_compile_options(-fno-sanitize=${KEYDROME_SANITIZE_EXCEPT})
  endif()
  # Tests that repeat something at random do so less often: memory errors and races do not hide as wrong verdicts do.
  add_compile_definitions(KEYDROME_SANITIZED)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False alarms on instrumented code (std::variant); the other presets keep the warning.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
