// say_once: tells the user on stderr why calls fail, once per reason.
#pragma once

#include <atomic>
#include <cstdio>

namespace keydrome::runtime {

// Prints the text unless `said` is true already, and sets `said`. Thread-safe.
inline void say_once(std::atomic<bool>& said, const char* text) {
  if (!said.exchange(true)) std::fprintf(stderr, "keydrome runtime: %s\n", text);
}

}  // namespace keydrome::runtime
