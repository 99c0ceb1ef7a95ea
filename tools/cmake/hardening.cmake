# keydrome_harden(TARGET): adds options of compiler and linker against memory errors, for programs that read untrusted bytes.
# Libraries that the target links keep their own flags. So the interpreter of the player (the jailed program that calls the
# library under test) gets no check that costs time, because its time is measured. tests/test_hardening.py checks that the built
# programs have these protections.
function(keydrome_harden target)
  target_compile_options(${target} PRIVATE -fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(${target} PRIVATE -fcf-protection=full)
  endif()
  # _FORTIFY_SOURCE is left out with sanitizers, which find more, and without optimisation, where it only causes warnings.
  if(NOT KEYDROME_SANITIZE AND CMAKE_BUILD_TYPE)
    target_compile_options(${target} PRIVATE
      $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE -pie LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
  endif()
endfunction()
