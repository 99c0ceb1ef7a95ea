// A library with one fault, for tests: the constructor ends the process with exit code 0. The
// referee, the process that judges, must see that the player, the process that calls the library,
// ends while it loads the library. The verdict must be crashed, in spite of the exit code.
#include <unistd.h>

namespace {
[[gnu::constructor]] void leave() { _exit(0); }
}  // namespace
