// KEYDROME_CHECK(condition): checks an invariant of Keydrome's own code. If the condition is false,
// prints the file, the line and the condition, and aborts the process.
//
// Do not use this check for wrong input or for a library under test that behaves wrongly. Return an
// Error (result.h) for wrong input. For a library that behaves wrongly, add a finding, i.e. an
// entry that says what is wrong, to the report about it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/keydrome_error.h"

namespace keydrome {

struct Here {
  const char* file;
  int line;
};

// Prints `what` with its file and line, and aborts the process.
[[noreturn]] inline void fail(Here here, std::string_view what) {
  std::fprintf(stderr, "%s:%d: check failed: %.*s; %s\n", here.file, here.line,
               static_cast<int>(what.size()), what.data(), kRepeatThenReport);
  std::abort();
}

}  // namespace keydrome

#define KEYDROME_HERE \
  ::keydrome::Here { __FILE__, __LINE__ }
#define KEYDROME_CHECK(condition)                                  \
  do {                                                             \
    if (!(condition)) ::keydrome::fail(KEYDROME_HERE, #condition); \
  } while (false)
