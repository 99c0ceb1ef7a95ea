// Types and helpers of the hostile libraries, which attack the machine or the measurement.
//
// A hostile library is a correct library (tests/faulty/honest.h) with one attack function. hooks.cc
// calls the function at the moments that its case names, and prints "ID MOMENT: tried". Each
// attempt that is not refused as documented prints a line "HOLE ..."
// (jail/tests/hostile/attempt.h). tools/reports/battery reads these lines from the log of the run.
// cases.json lists the cases, and CMake builds one library for each.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "jail/tests/hostile/attempt.h"

namespace hostile {

// The moments at which an attack can run. The jail has two stages. The second begins after loading,
// and takes away rights that only loading needs (jail/tighten.h). It is in force at all of these
// moments except kConstructor.
enum Where : unsigned {
  kConstructor = 1,  // while the library is loaded: only the first stage is in force
  kEarlyThread = 2,  // in a thread that a constructor started, when the library is first called
  kCall = 4,         // in the first create
  kThread = 8,       // in a new thread, while the first create waits for it
  kCommit = 16,      // in a commitTransaction of the timed test
  kClose = 32,       // after the first closeIndex
  kLeftThread = 64,  // in a thread that the first create starts and does not wait for
};

struct Case {
  const char* id;
  unsigned where;  // mask of Where
  void (*attack)(Where);
};

// The case of this library; defined in case.cc.
extern const Case the_case;

// Returns whether Landlock restricts opening files at this moment. Landlock restricts the thread
// that entered the second stage and all threads that were started later. It restricts neither
// constructors nor earlier threads.
inline bool may_not_open(Where where) { return (where & (kConstructor | kEarlyThread)) == 0; }

// Like refused(), for an attempt that several layers of the jail may refuse: any error of `errors`
// is accepted.
inline void refused_by_any(const char* what, long result, std::initializer_list<int> errors) {
  const bool fits = std::find(errors.begin(), errors.end(), errno) != errors.end();
  refused(what, result, fits ? errno : *errors.begin());
}

}  // namespace hostile
