// A library with one fault, for tests: the constructor raises SIGSEGV. The referee, the process
// that judges, must see that the player, the process that calls the library, dies while it loads
// the library. The verdict must be crashed.
#include <csignal>

namespace {
[[gnu::constructor]] void crash() { std::raise(SIGSEGV); }
}  // namespace
