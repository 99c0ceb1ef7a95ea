/* Dies by a signal; leaves no core file. */
#include <stdlib.h>

int main(void) { abort(); }
