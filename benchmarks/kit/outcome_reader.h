// The referee's checked copy of what a phase's outcome memfd holds.
//
// The bytes are untrusted and may even change while they are read: every struct is copied out once
// and checked against the referee's own layout; what does not fit is an Error, which fails the run.
// What a ThreadResult says is still only the player's word: the judge compares it with the script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/kit/outcome.h"
#include "benchmarks/kit/outcome_layout.h"
#include "checker/event.h"

namespace keydrome {

struct ThreadResult {
  std::unique_ptr<ThreadOutcome> counters;  // never null
  std::vector<TransactionEnd> ends;         // one for each transaction of the program, in its order
  std::vector<std::byte> trace;
  std::vector<Event> events;  // of a recorded phase
};

struct PhaseOutcome {
  std::vector<ThreadResult> threads;
};

// phases[i] belongs to script.phases[i]; fewer when the run ended early.
struct Outcome {
  std::vector<PhaseOutcome> phases;
};

Result<PhaseOutcome> read_outcome(std::span<const std::byte> image, const OutcomeLayout& layout);

// One trace record, borrowed from a ThreadResult.
struct Evidence {
  uint64_t op;
  uint64_t repetition;
  uint32_t code;
  std::string_view key;      // 4 or 8 bytes of an integer, or the string
  std::string_view payload;  // with its tag
};

// Walks over a thread's trace. Not thread-safe.
class TraceReader {
 public:
  explicit TraceReader(std::span<const std::byte> trace) : rest_(trace) {}
  // The next record; false at the end or when the rest is no record (then damaged() is true).
  bool next(Evidence& out);
  bool damaged() const { return damaged_; }

 private:
  std::span<const std::byte> rest_;
  bool damaged_ = false;
};

}  // namespace keydrome
