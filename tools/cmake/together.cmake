# Compiles several sources of a folder as one, so that templates of the standard library are instantiated once for all of
# them. This halves the time of a whole build; after a change of one source, compiling takes a few seconds longer.
#
# Used only for code whose time is not measured: the tests, and the code of the referee, the process that judges a library.
# Measured code (interpreter, runtime, structures) is compiled source by source.
option(KEYDROME_TOGETHER "Compile sources of the referee and its tests together" OFF)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(KEYDROME_TOGETHER OFF)  # a compiler cache finds more hits if each source is compiled alone
endif()

# keydrome_together(TARGET [APART SOURCES...]): compiles the C++ sources of a target in groups of eight, in the listed order.
# Therefore a name in an unnamed namespace must be unique in its target, or be in a namespace of its folder. The sources after
# APART are compiled alone.
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
