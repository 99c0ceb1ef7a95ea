/* Fault: does not export deleteRecord.
 * Must be found by: loading the library; the reason of the verdict names the function. */
#define deleteRecord not_the_name_of_the_contract
#include "indexes/null/null.c"
