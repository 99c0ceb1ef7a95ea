/* Fault: does not export deleteRecord.
  * Must be found by: the loading of the library; the verdict's reason names the function. */
#define deleteRecord not_the_name_of_the_contract
#include "indexes/null/null.c"
