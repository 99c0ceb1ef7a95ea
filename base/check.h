// KEYDROME_CHECK: a broken invariant of our own ends the process with file, line and text.
//
// Not for bad input and not for what a library under test does: those are errors or findings
// (result.h, finding.h).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace keydrome {

struct Here {
  const char* file;
  int line;
};

[[noreturn]] inline void fail(Here here, std::string_view what) {
  std::fprintf(stderr, "%s:%d: check failed: %.*s\n", here.file, here.line,
               static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace keydrome

#define KEYDROME_HERE \
  ::keydrome::Here { __FILE__, __LINE__ }
#define KEYDROME_CHECK(condition)                                  \
  do {                                                             \
    if (!(condition)) ::keydrome::fail(KEYDROME_HERE, #condition); \
  } while (false)
