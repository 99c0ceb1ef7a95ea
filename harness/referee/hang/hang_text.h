// Turns facts about the threads of the player into text for a person, after the player has hung or
// died. The player is the jailed process that runs the library under test.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/referee/hang/program_position.h"
#include "harness/referee/hang/thread_facts.h"

namespace keydrome {

// One thread of the player.
struct HungThread {
  std::optional<std::size_t> number;  // number in the phase; empty: the thread plays no operations
  // Only without `number`: the thread loads the library, or crashed while the library was loaded.
  bool loads_library = false;
  ProgramPosition position;          // of a thread with a number
  uint64_t stuck_ms = 0;             // for at least this long, the thread has made no progress
  std::optional<ThreadFacts> facts;  // empty: the kernel does not show the thread
  uint64_t busy_ms = 0;              // CPU time used within kHangLookMs
  std::string stack;                 // empty: the thread wrote no stack
  std::vector<std::string> before;   // the thread's last calls before the current one, as text
};

// Time between the two readings of the threads' CPU times, in milliseconds.
inline constexpr uint64_t kHangLookMs = 100;

// "1 more thread" or "12 more threads", for the end of a list that names only the first threads.
std::string more_threads(std::size_t count);

// Describes which thread waits for which other thread, then each thread in one or more lines.
std::string hang_text(const script::Script& script, const std::vector<HungThread>& threads);

// Describes the threads of a library that was too slow: for each, the call that it was making, and
// its stack. It says nothing about waits, because the threads advanced.
std::string slow_text(const script::Script& script, const std::vector<HungThread>& threads);

// Describes a process that has died: for each thread, the call that it was making, the calls before
// it, and its stack if it crashed.
std::string last_calls_text(const script::Script& script, const std::vector<HungThread>& threads);

}  // namespace keydrome
