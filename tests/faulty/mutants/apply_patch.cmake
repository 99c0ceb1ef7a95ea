# Applies the patch that makes a mutant, a library with one deliberate fault. The command
# `cmake -DPATCH=... -DNAME=FILE.patch -DFROM=... -DTO=... -P apply_patch.cmake` copies the file FROM to TO, and applies the patch
# to the copy. The context lines must match exactly (no fuzz). If they have changed, a person must check
# that the patch still makes the same fault.
execute_process(
  COMMAND ${PATCH} --fuzz=0 --silent --reject-file=- --output=${TO} --input=${NAME} ${FROM}
  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(failed)
  file(REMOVE ${TO})
  message(FATAL_ERROR "${NAME} does not apply to ${FROM}, which has changed. Run `python -m tools.refresh_mutants`. If this command "
    "cannot apply the patch either, edit the patch by hand so that it inserts the same fault.\n${output}")
endif()
