// A session did not go on: what can be seen of its threads before the jail is ended.
//
// Three sources. The program, which is the referee's, says what each thread was asked to do and
// what its open transaction has touched. The kernel says what each thread waits for. The player's
// threads say themselves how far they are and through which calls they came there: the library may
// have forged that, and the text says whose word it is. Takes about a second at most.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "benchmarks/kit/workload.h"
#include "harness/referee/phase_watch.h"

namespace keydrome {

struct HangInputs {
  pid_t jail = 0;
  std::span<const std::byte> stack_page;
  const Script* script = nullptr;
  const PhaseScript* phase = nullptr;  // nullptr: while the library was loaded
  PhaseWatch* watch = nullptr;         // of the phase
};

// Lines for a person (hang_text.h).
std::string hang_evidence(const HangInputs& inputs);

// The same of a phase whose process is gone: the calls that its threads were in, and no more.
std::string last_stand(const Script& script, const PhaseScript& phase, const PhaseWatch& watch);

}  // namespace keydrome
