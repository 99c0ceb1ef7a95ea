// Fault: the constructor raises SIGSEGV.
// Must be found by: the referee, the process that judges. The referee sees that the player, the
// process that calls the library, dies while it loads the library; verdict crashed.
#include <csignal>

namespace {
[[gnu::constructor]] void crash() { std::raise(SIGSEGV); }
}  // namespace
