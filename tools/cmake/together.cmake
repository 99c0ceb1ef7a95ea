# Compiling several sources of a folder as one: what templates make of the standard library is then compiled once for
# all of them. It halves a whole build; a source changed alone takes a few seconds longer.
#
# Only for what judges and tests; what is measured (session, runtime, structures) compiles as its authors wrote it.
option(KEYDROME_TOGETHER "Compile sources of the referee and its tests together" OFF)
if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(KEYDROME_TOGETHER OFF)  # a compiler cache serves small sources better
endif()

# keydrome_together(TARGET [APART SOURCES...]): compile a target's C++ sources eight at a time, never those of two
# folders, so that a name in an unnamed namespace has to be unique in its folder only; APART are compiled alone.
function(keydrome_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "APART")
  if(NOT KEYDROME_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(source IN_LIST arg_APART)
      continue()
    endif()
    get_filename_component(folder ${source} ABSOLUTE)
    get_filename_component(folder ${folder} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR group "${count_${folder}} / 8")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
