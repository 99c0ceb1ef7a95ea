// What a session that did not go on shows, in words.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/standing.h"
#include "harness/referee/thread_facts.h"

namespace keydrome {

// One thread of the player's process.
struct HungThread {
  std::optional<std::size_t> number;  // in the phase; nothing: none of the phase's threads
  bool loads = false;                 // while the library was loaded: the thread that does it
  Standing standing;                  // of a thread of the phase
  uint64_t still_ms = 0;              // it has not moved for at least that long
  std::optional<ThreadFacts> facts;   // nothing: the kernel does not show it
  uint64_t busy_ms = 0;               // CPU time that it used within kHangLookMs
  std::string stack;                  // empty: it gave none
};

// Between the two looks at the threads' CPU times.
inline constexpr uint64_t kHangLookMs = 100;

// Who waits for whom, then a line or more for each thread.
std::string hang_text(const Script& script, const std::vector<HungThread>& threads);

// The same of a process that is gone: a line for each thread, with the call that it was in.
std::string last_stand_text(const Script& script, const std::vector<HungThread>& threads);

}  // namespace keydrome
