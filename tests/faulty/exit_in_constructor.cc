// Fault: the constructor ends the process with exit code 0.
// Must be found by: the referee, the process that judges. The referee sees that the player, the
// process that calls the library, ends while it loads the library. The verdict is crashed, in spite
// of the exit code.
#include <unistd.h>

namespace {
[[gnu::constructor]] void leave() { _exit(0); }
}  // namespace
