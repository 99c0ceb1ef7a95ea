// Fault: the constructor dies of a signal.
// Must be found by: loading; verdict crashed.
#include <csignal>

namespace {
[[gnu::constructor]] void crash() { std::raise(SIGSEGV); }
}  // namespace
