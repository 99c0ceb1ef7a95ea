# keydrome_musl(TARGET): links a C program statically with musl instead of glibc. At every start glibc queries the processor for
# its features and caches with some forty CPUID instructions, and in a virtual machine each of them traps to the hypervisor.
# docs/decisions/0018-jail-on-musl.md has the figures. Builds with sanitizers keep glibc, because the sanitizers'
# runtime libraries need it. Builds with clang and the preset for clang-tidy keep glibc too, because musl's specs file is
# only for GCC.
option(KEYDROME_MUSL "Link programs that start often with musl" ON)

function(keydrome_musl target)
  if(NOT KEYDROME_MUSL OR KEYDROME_SANITIZE OR NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set(triple ${CMAKE_SYSTEM_PROCESSOR}-linux-musl)
  find_file(KEYDROME_MUSL_SPECS musl-gcc.specs PATHS /usr/lib/${triple} NO_DEFAULT_PATH)
  if(NOT KEYDROME_MUSL_SPECS)
    message(FATAL_ERROR "The target ${target} needs musl: install the package musl-tools")
  endif()
  get_filename_component(musl ${KEYDROME_MUSL_SPECS} DIRECTORY)
  # The kernel's headers come last, so that no header of glibc replaces one of musl.
  target_compile_options(${target} PRIVATE -specs=${KEYDROME_MUSL_SPECS}
    "SHELL:-idirafter /usr/include" "SHELL:-idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}")
  # Names musl's start files, because the compiler would otherwise take those of glibc.
  target_link_options(${target} PRIVATE -static-pie -nostdlib -nostartfiles)
  target_link_libraries(${target} PRIVATE
    ${musl}/rcrt1.o ${musl}/crti.o ${musl}/libc.a gcc ${musl}/crtn.o)
endfunction()
