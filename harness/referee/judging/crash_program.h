// crash_program(): writes a C99 program that makes the calls of a session (one repetition of a
// benchmark) up to the crash of the library. The author of the library links the program with it,
// and runs both in a debugger, without Keydrome.
//
// The program plays the phases one after another, with one thread for each thread of the session.
// It makes the same calls with the same arguments, each thread in the order of the session. The
// order in which calls of different threads overlap is not recorded, so the program cannot repeat
// it.
//
// Everything in the program comes from the referee, the trusted process that generated the
// operations. The player, the jailed process with the library, only says how far each thread was.
// Thread safety: pure function.
#pragma once

#include <string>

#include "benchmarks/kit/script/script.h"
#include "harness/referee/session/session_result.h"

namespace keydrome {

// At most one of the two members is set. Neither is set if the session did not end during a phase.
struct CrashProgram {
  std::string text;
  std::string why_none;  // a sentence without its full stop: why there is no program
};

// The text of a program has at most this many bytes.
inline constexpr std::size_t kCrashProgramBytesMax = 400'000;

// Returns the program for a session that ended in a call. `script` contains the operations of the
// session, except those that were not played because the phase ended by the clock
// (script::drop_unplayed()). `end` says how the session ended, such as "the library's process was
// ended by SIGSEGV".
CrashProgram crash_program(const script::Script& script, const SessionResult& result,
                           const std::string& end);

}  // namespace keydrome
