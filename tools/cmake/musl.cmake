# keydrome_musl(TARGET): a C program linked statically with musl instead of glibc, which asks the processor for its
# features and caches at every start: some forty CPUID instructions, and in a virtual machine each is a trap to the
# hypervisor. docs/decisions/0018-jail-on-musl.md has the figures. Sanitizers and clang's presets keep glibc, and so does
# the preset whose commands clang-tidy reads.
option(KEYDROME_MUSL "Link with musl what starts often" ON)

function(keydrome_musl target)
  if(NOT KEYDROME_MUSL OR KEYDROME_SANITIZE OR NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set(triple ${CMAKE_SYSTEM_PROCESSOR}-linux-musl)
  find_file(KEYDROME_MUSL_SPECS musl-gcc.specs PATHS /usr/lib/${triple} NO_DEFAULT_PATH)
  if(NOT KEYDROME_MUSL_SPECS)
    message(FATAL_ERROR "${target}: musl is missing; on Debian: apt-get install musl-tools")
  endif()
  get_filename_component(musl ${KEYDROME_MUSL_SPECS} DIRECTORY)
  # The kernel's headers are musl's neighbours and come last, so that none of glibc's is taken for one of musl's.
  target_compile_options(${target} PRIVATE -specs=${KEYDROME_MUSL_SPECS}
    "SHELL:-idirafter /usr/include" "SHELL:-idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}")
  # By name what the compiler would take from glibc.
  target_link_options(${target} PRIVATE -static-pie -nostdlib -nostartfiles)
  target_link_libraries(${target} PRIVATE
    ${musl}/rcrt1.o ${musl}/crti.o ${musl}/libc.a gcc ${musl}/crtn.o)
endfunction()
