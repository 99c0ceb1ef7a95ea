// Reads the outcome memfd, in which the player wrote the results of a phase, into a checked copy.
// The referee uses it after each phase.
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

#include "base/result.h"
#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/script/outcome_layout.h"
#include "checker/history/event.h"

namespace keydrome::script {

// The results of one thread in one phase.
struct ThreadResult {
  std::unique_ptr<format::ThreadOutcome> counters;  // never null
  std::vector<format::TransactionEnd> ends;         // one per transaction, in program order
  std::vector<uint64_t> words;                      // one per call (format/evidence_word.h)
  std::vector<std::byte> trace;                     // the evidence, for TraceReader
  std::vector<history::Event> events;               // every call, if the phase is recorded
};

struct PhaseOutcome {
  std::vector<ThreadResult> threads;
};

// The results of a session. phases[i] belongs to script.phases[i]. If the run ended early, the last
// phases are missing.
struct Outcome {
  std::vector<PhaseOutcome> phases;
};

// Copies and checks the outcome of one phase.
Result<PhaseOutcome> read_outcome(std::span<const std::byte> image, const OutcomeLayout& layout);

// One record of evidence: the result of a single call. The strings refer to the bytes of the
// ThreadResult.
struct Evidence {
  uint64_t op;               // number of the op in the thread's program
  uint64_t repetition;       // as in format::TraceRecord
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

 private:
  std::span<const std::byte> rest_;
  bool damaged_ = false;
};

}  // namespace keydrome::script
