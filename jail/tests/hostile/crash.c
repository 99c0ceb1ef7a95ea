/* Hostile program, for testing the jail (a sandbox for one program): dies by SIGABRT. The jail must
 * leave no core file. */
#include <stdlib.h>

int main(void) { abort(); }
