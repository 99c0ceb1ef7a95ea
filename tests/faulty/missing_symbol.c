/* Fault: does not export deleteRecord.
 * Must be found by: loading; the reason names the function. */
#define deleteRecord not_the_name_of_the_contract
#include "tests/faulty/success_only.c"
