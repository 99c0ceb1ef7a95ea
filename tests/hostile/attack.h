// What the hostile libraries of the battery share: an attack, and where in a library's life it
// happens.
//
// A hostile library is an honest one (tests/faulty/honest.h) with one attack. hooks.cc runs the
// attack at the places that the case names, and then says on stdout that it was tried; what was
// not refused as it should be is a line that begins with HOLE (jail/tests/hostile/attempt.h). Both
// are read from the log of the run. cases.json lists the cases; CMake makes a library of each.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "jail/tests/hostile/attempt.h"

namespace hostile {

// Where an attack happens. All but the first are behind the second stage of the jail.
enum Where : unsigned {
  kConstructor = 1,  // while the library is loaded: only the first stage holds
  kEarlyThread = 2,  // in a thread that a constructor started, once the library is called
  kCall = 4,         // in the first create
  kThread = 8,       // in a thread of its own, while the first create waits for it
  kCommit = 16,      // in a commitTransaction of the timed test
  kClose = 32,       // after the first closeIndex
  kLeftThread = 64,  // in a thread that the first create leaves running
};

struct Case {
  const char* id;
  unsigned where;  // of Where
  void (*attack)(Where);
};

// Of this library (case.cc).
extern const Case the_case;

// Landlock binds what the second stage's caller started: not a thread that was there before.
inline bool may_not_open(Where where) { return (where & (kConstructor | kEarlyThread)) == 0; }

// An attempt that may be refused in several ways, depending on which layer is first.
inline void refused_by_any(const char* what, long result, std::initializer_list<int> errors) {
  const bool fits = std::find(errors.begin(), errors.end(), errno) != errors.end();
  refused(what, result, fits ? errno : *errors.begin());
}

}  // namespace hostile
