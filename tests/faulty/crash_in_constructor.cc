// Fault: the constructor raises SIGSEGV.
// Must be found by: the referee, because the player dies while it loads the library; verdict
// crashed.
#include <csignal>

namespace {
[[gnu::constructor]] void crash() { std::raise(SIGSEGV); }
}  // namespace
