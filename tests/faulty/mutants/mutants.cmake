# Functions that patch sources of the runtime, the code that adds transactions to data structures, for the mutants. A mutant is a
# library with one deliberate fault. ../mutants.json lists the faults, and NAME.patch inserts one of them into a copy of a source
# during the build.
find_program(KEYDROME_PATCH patch REQUIRED)
set(KEYDROME_MUTANTS ${CMAKE_SOURCE_DIR}/tests/faulty/mutants.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KEYDROME_MUTANTS})

# keydrome_patched_sources(NAME SOURCES INCLUDES [INCLUDERS...]): sets SOURCES to the sources to compile for NAME.patch, and
# INCLUDES to the include directory that must be searched first (empty if the patch changes no header). A patch changes one file.
# If this file is a header, INCLUDERS are the sources that include it; mutants.json lists them as `sources`.
function(keydrome_patched_sources name sources_variable includes_variable)
  set(folder ${CMAKE_SOURCE_DIR}/tests/faulty/mutants)
  set(patch ${folder}/${name}.patch)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${patch})
  file(STRINGS ${patch} path REGEX "^--- a/")
  string(REPLACE "--- a/" "" path "${path}")
  set(patched ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}/${path})
  get_filename_component(patched_folder ${patched} DIRECTORY)
  file(MAKE_DIRECTORY ${patched_folder})
  add_custom_command(OUTPUT ${patched}
    COMMAND ${CMAKE_COMMAND} -DPATCH=${KEYDROME_PATCH} -DNAME=${patch} -DFROM=${CMAKE_SOURCE_DIR}/${path} -DTO=${patched}
            -P ${folder}/apply_patch.cmake
    DEPENDS ${CMAKE_SOURCE_DIR}/${path} ${patch} ${folder}/apply_patch.cmake VERBATIM)
  set(sources ${patched})
  set(includes)
  if(path MATCHES "\\.h$")
    set(includes ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name})
    list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/)
    list(APPEND sources ${ARGN})
  endif()
  set(${sources_variable} ${sources} PARENT_SCOPE)
  set(${includes_variable} ${includes} PARENT_SCOPE)
endfunction()

# keydrome_mutant_field(AT NAME): sets mutant_NAME to the field NAME of the mutant at position AT of mutants.json, or to nothing.
macro(keydrome_mutant_field at name)
  string(JSON mutant_${name} ERROR_VARIABLE problem GET "${mutants}" ${at} ${name})
  if(problem)
    set(mutant_${name})
  endif()
endmacro()
