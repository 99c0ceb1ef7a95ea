/* A library with one fault, for tests: it does not export deleteRecord. The loading of the library
 * must find the fault, and the reason of the verdict must name the function. */
#define deleteRecord not_the_name_of_the_contract
#include "indexes/null/null.c"
