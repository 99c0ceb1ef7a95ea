# Compiling several sources of a folder as one: what templates make of the standard library is then compiled once for
# all of them. It halves a whole build; a source changed alone takes a few seconds longer.
#
# Only for what judges and tests; what is measured (session, runtime, structures) compiles as its authors wrote it.
option(KEYDROME_TOGETHER "Compile sources of the referee and its tests together" OFF)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(KEYDROME_TOGETHER OFF)  # a compiler cache serves small sources better
endif()

# keydrome_together(TARGET [APART SOURCES...]): compile a target's C++ sources eight at a time, in their order. So a name
# in an unnamed namespace has to be unique in its target, or lie in a namespace of its folder; APART are compiled alone.
function(keydrome_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "APART")
  if(NOT KEYDROME_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(REMOVE_ITEM sources ${arg_APART} "")
  set(count 0)
  foreach(source IN LISTS sources)
    math(EXPR group "${count} / 8")
    math(EXPR count "${count} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
