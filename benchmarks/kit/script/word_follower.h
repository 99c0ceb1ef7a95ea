// follow_words(): replays one thread's program (its list of operations, called ops) with the words
// that the thread left. A word is the 8 bytes in which every call leaves its result or time
// (format/control_word.h). So the function finds out what the thread did: how and when each
// transaction ended, and which words belong to its final attempt.
//
// The words come from the library's process and are untrusted. The function takes only results and
// times from them. It takes ops, keys and payloads from a copy that never left the referee, the
// process in which this code runs. Words that no run of the program can leave are an error.
//
// Thread safety: pure function, except for calls of the observer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "benchmarks/kit/format/control_word.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/script/thread_totals.h"

namespace keydrome::script {

// One call to the library other than begin, commit and abort.
struct FollowedCall {
  history::EventCall call = history::EventCall::kCreate;
  bool alone = false;  // the call was passed NULL as its transaction
  uint32_t index = 0;  // number of the index
  uint8_t slot = 0;    // the thread's variable for the handle
  // Null if no op makes the call: it closes or opens a handle after a failed attempt.
  const format::Op* op = nullptr;
  // True if a procedure, a list of instructions, computed the arguments. Only then are the next
  // three members set.
  bool computed = false;
  bool key_is_text = false;  // true: `key` is hash_bytes() of the key
  uint64_t key = 0;          // otherwise an integer key, or the number of a string in the pool
  uint32_t tag = 0;          // the unique number of an inserted payload
  uint64_t word = 0;         // the evidence word of the result
};

// Returns the call that an op makes. REQUIRES: the op is a create, open, close or kDeleteRead, or
// an op on records.
constexpr history::EventCall call_of(format::OpCode code) {
  using format::OpCode;
  using history::EventCall;
  switch (code) {
    case OpCode::kCreate:
      return EventCall::kCreate;
    case OpCode::kOpen:
      return EventCall::kOpen;
    case OpCode::kClose:
      return EventCall::kClose;
    case OpCode::kGet:
      return EventCall::kGet;
    case OpCode::kInsert:
      return EventCall::kInsert;
    case OpCode::kDeleteKey:
      return EventCall::kDeleteKey;
    case OpCode::kDeletePair:
    case OpCode::kDeleteRead:
      return EventCall::kDeletePair;
    default:
      return EventCall::kNext;
  }
}

// Sees all calls of a thread in their order. Times are ticks since GO, the start of the phase.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // At this time all earlier calls had returned, and no later call had begun.
  virtual void time(uint64_t ticks) = 0;
  virtual void begin(uint32_t code, uint64_t ticks) = 0;
  // `call` is kCommit or kAbort.
  virtual void end(history::EventCall call, uint32_t code, uint64_t ticks) = 0;
  virtual void call(const FollowedCall& call) = 0;
};

// The result of one execution of a procedure, in a transaction that committed or aborted as
// programmed.
struct ProcedureResult {
  uint64_t op;     // number of its kRun in the program
  uint32_t round;  // repetition of the kRepeat body
  int64_t number;

  bool operator==(const ProcedureResult&) const = default;
};

struct Followed {
  // How many ops the thread has played: all, unless a kUntil ended the program.
  uint64_t ops = 0;
  std::vector<TransactionEnd> ends;  // one per transaction of these ops, in program order
  ThreadTotals totals;
  std::vector<ProcedureResult> results;  // in program order
  // Inserts that returned ENTRY_EXISTS although their pair cannot have been stored.
  uint64_t unexpected_entries = 0;
  uint64_t first_unexpected_entry = 0;  // number of the first such op; valid if there is one
};

// Follows a thread that executed `ops` and left `words`. Keeps in `words` only the evidence words
// of ops on records (format::is_on_records) in transactions that committed or aborted as
// programmed, and in auto-commit ops that succeeded. Without an observer, this takes about 3 ns per
// call. `schedule` is that of the phase.
Result<Followed> follow_words(std::span<const format::Op> ops, const TickClock& clock,
                              uint64_t ended_ticks, std::vector<uint64_t>& words,
                              CallObserver* observer, const Schedule& schedule = {});

// Returns the number of the first op that has not left all its words, or ops.size(). `words` are
// those of a thread that is still playing or has died. If the words of an op do not fit, returns
// the number of this op.
uint64_t reached_op(std::span<const format::Op> ops, std::vector<uint64_t> words);

}  // namespace keydrome::script
