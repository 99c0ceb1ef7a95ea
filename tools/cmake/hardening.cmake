# keydrome_harden(TARGET): what compiler and linker do against memory errors in programs that meet untrusted bytes. What a
# target is linked with keeps its own flags: the player's interpreter, which is timed, has none of the checks that cost.
# tests/test_hardening.py reads from the programs that it is so.
function(keydrome_harden target)
  target_compile_options(${target} PRIVATE -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(${target} PRIVATE -fcf-protection=full)
  endif()
  # Not with sanitizers, which see more, and not without optimisation, where it does nothing but warn.
  if(NOT KEYDROME_SANITIZE AND CMAKE_BUILD_TYPE)
    target_compile_options(${target} PRIVATE
      $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE -pie LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
  endif()
endfunction()
