// Reads the outcome memfd into a checked copy. The player, the process that calls the library,
// wrote the results of a phase into this memory. The referee, which judges the results, uses this
// reader after each phase.
//
// The bytes are untrusted and may change while the referee reads them. So each struct is copied
// once, and the copy is then checked against the referee's own layout. If anything does not fit,
// the result is an Error, which fails the run. The numbers in a ThreadResult are still unproven
// claims of the player, which the judge compares with the script.
//
// Thread safety: pure functions, except for TraceReader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/script/outcome_layout.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/script/thread_totals.h"
#include "benchmarks/kit/script/word_follower.h"
#include "checker/history/event.h"

namespace keydrome::script {

// The results of one thread in one phase. A word is the 8 bytes in which the player leaves the
// result or the time of a call (format/control_word.h).
struct ThreadResult {
  std::unique_ptr<format::ThreadOutcome> reported;  // never null
  ThreadTotals totals;                              // computed from the words
  uint64_t ops = 0;                                 // ops of its program that the thread has played
  std::vector<TransactionEnd> ends;  // one per transaction of these ops, in program order
  // The words of calls on records in final attempts (word_follower.h).
  std::vector<uint64_t> words;
  std::vector<ProcedureResult> results;  // of all procedures
  // The evidence, for TraceReader: the records that the script asks for (kEvidence, kEvidenceAll),
  // and those of bare calls.
  std::vector<std::byte> trace;
  std::vector<history::Event> events;  // every call, from the log or from the words
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
};

// Returns the clock with which the referee converts the player's ticks. Player and referee run on
// the same machine. The first call calibrates it for 2 ms. Thread-safe.
const TickClock& referee_clock();

// Copies and checks the outcome of one phase, on several CPUs. With `keep_calls`, fills
// ThreadResult::events from the words (word_events.h).
Result<PhaseOutcome> read_outcome(std::span<const std::byte> image, const OutcomeLayout& layout,
                                  const Script& script, const PhaseScript& phase,
                                  bool keep_calls = false);

// Removes the ops that the threads have not played from the programs of a script, because a kUntil
// ended the programs. The judges need a script of what was played.
void drop_unplayed(Script& script, const Outcome& outcome);

// One record of evidence: the result of a single call. The strings refer to the bytes of the
// ThreadResult.
struct Evidence {
  uint64_t op;               // number of the op in the thread's program
  uint64_t repetition;       // pass of the kRepeat body << 32 | number of the getNext
  uint32_t code;             // the result code
  std::string_view key;      // 4 or 8 bytes of an integer, or the string
  std::string_view payload;  // the tag in letters, then the text
};

// Iterates over the evidence in a thread's trace. Not thread-safe.
class TraceReader {
 public:
  explicit TraceReader(std::span<const std::byte> trace) : rest_(trace) {}
  // Reads the next record. Returns false at the end of the trace. Also returns false if the
  // remaining bytes are no valid record. damaged() is then true.
  bool next(Evidence& out);
  bool damaged() const { return damaged_; }
  // Return the bytes of the last record, and those after it.
  std::span<const std::byte> last() const { return last_; }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_, last_;
  bool damaged_ = false;
};

}  // namespace keydrome::script
