# Finds Abseil, and sets `libraries` to its static libraries with the functions that report errors. They are linked
# statically, because the jail, the sandbox in which libraries run, does not admit Abseil's shared objects. An optimised
# build uses no code of these static libraries.
find_path(ABSL_INCLUDE absl/container/btree_set.h)
set(libraries)
foreach(part IN ITEMS throw_delegate raw_logging_internal log_severity)
  find_library(ABSL_${part} libabsl_${part}.a)
  list(APPEND libraries ${ABSL_${part}})
endforeach()
if(NOT ABSL_INCLUDE OR NOT ABSL_throw_delegate OR NOT ABSL_raw_logging_internal OR NOT ABSL_log_severity)
  message(FATAL_ERROR "structures/absl_btree needs Abseil: install the package libabsl-dev")
endif()
