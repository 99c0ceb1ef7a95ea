// Reads the outcome memfd into a checked copy. The player, the process that calls the library,
// wrote the results of a phase into this memory. The referee, which judges the results, uses this
// reader after each phase.
//
// The bytes are untrusted and may change while the referee reads them. So each struct is copied
// once, and the copy is then checked against the referee's own layout. If anything does not fit,
// the result is an Error, which fails the run. The numbers in a ThreadResult are still unproven
// claims of the player, which the judge compares with the script.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/script/evidence/trace.h"
#include "benchmarks/kit/script/outcome_layout.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/script/thread_totals.h"
#include "benchmarks/kit/script/word_follower.h"
#include "checker/history/event.h"

namespace keydrome::judge {
class KeyRanks;
}  // namespace keydrome::judge

namespace keydrome::script {

// The results of one thread in one phase. A word is the 8 bytes in which the player leaves the
// result or the time of a call (format/control_word.h).
struct ThreadResult {
  std::unique_ptr<format::ThreadOutcome> reported;  // never null
  ThreadTotals totals;                              // computed from the words
  uint64_t ops = 0;                                 // operations that the thread has played
  std::vector<TransactionEnd> ends;  // one per transaction of these operations, in program order
  // The words of calls on records in final attempts (word_follower.h).
  std::vector<uint64_t> words;
  std::vector<ProcedureResult> results;  // of all procedures (kRun operations)
  Trace trace;                           // whole results of calls (evidence)
  std::vector<history::Event> events;    // every call, from the log or from the words
  // Positions of events whose keys the caller must set (WordEvents::take_unresolved()).
  std::vector<uint32_t> unresolved;
};

// Where the events of a phase come from.
enum class EventSource : uint8_t { kNone, kLog, kWords };

struct PhaseOutcome {
  std::vector<ThreadResult> threads;
  EventSource events = EventSource::kNone;
};

// The results of a session. phases[i] belongs to script.phases[i]. If the run ended early, the last
// phases are missing.
struct Outcome {
  std::vector<PhaseOutcome> phases;
  // The ranks of the script's keys: their positions in sorted order. Null if the ranks were not
  // computed while the session was played; the judges then compute them.
  std::shared_ptr<const judge::KeyRanks> ranks;
};

// Returns the clock with which the referee converts the player's ticks. Player and referee run on
// the same machine. The first call calibrates it for 2 ms. Thread-safe.
const TickClock& referee_clock();

// Copies and checks the outcome of one phase, on several CPUs. With `keep_calls`, fills
// ThreadResult::events from the words (word_events.h).
Result<PhaseOutcome> read_outcome(std::span<const std::byte> image, const OutcomeLayout& layout,
                                  const Script& script, const PhaseScript& phase,
                                  bool keep_calls = false);

// Removes from the programs of a script the operations that the threads have not played, because a
// kUntil (an operation that ends a program at a given time) came first. The judges need a script of
// what was played.
void drop_unplayed(Script& script, const Outcome& outcome);

}  // namespace keydrome::script
