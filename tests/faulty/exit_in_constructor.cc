// Fault: the constructor ends the process with exit code 0.
// Must be found by: the referee, the process that judges. It sees that the player, the process that
// calls the library, ends while it loads the library; verdict crashed in spite of the exit code.
#include <unistd.h>

namespace {
[[gnu::constructor]] void leave() { _exit(0); }
}  // namespace
