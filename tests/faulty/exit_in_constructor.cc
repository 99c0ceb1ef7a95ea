// Fault: the constructor ends the process, with a fine exit code.
// Must be found by: loading; verdict crashed, exit code 0 notwithstanding.
#include <unistd.h>

namespace {
[[gnu::constructor]] void leave() { _exit(0); }
}  // namespace
