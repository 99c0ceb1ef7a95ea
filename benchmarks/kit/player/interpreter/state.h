// InterpreterState: the data members of class Interpreter (../interpreter.h), which executes one
// thread's program. They are its inputs, its position in the program, its current task, and the
// state that it restores when it repeats a transaction. A *word* is 8 bytes that describe one call
// (format/control_word.h); *evidence* is the whole result of a call.
//
// Thread safety: plain data; each interpreter has its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "benchmarks/kit/format/control_word.h"
#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/player/index_api.h"
#include "benchmarks/kit/player/index_names.h"
#include "benchmarks/kit/player/interpreter/call_buffers.h"
#include "benchmarks/kit/player/interpreter/evidence_writer.h"
#include "benchmarks/kit/player/interpreter/procedure_state.h"
#include "benchmarks/kit/player/interpreter/scan_position.h"
#include "benchmarks/kit/player/pools_view.h"
#include "benchmarks/kit/player/recording.h"
#include "benchmarks/kit/player/retry_budget.h"
#include "benchmarks/kit/player/signals.h"
#include "benchmarks/kit/player/thread_clock.h"
#include "benchmarks/kit/player/turns.h"

namespace keydrome::player {

// The objects that an interpreter uses. They are borrowed: all of them must outlive the
// interpreter.
struct InterpreterInputs {
  const IndexApi* api = nullptr;
  const PoolsView* pools = nullptr;  // the names, texts and procedures that all phases share
  IndexNames* names = nullptr;
  Signals* events = nullptr;            // shared by all threads of the phase
  Turns* turns = nullptr;               // shared by all threads; null if no program has kStep ops
  RetryBudget* retry_budget = nullptr;  // shared by all phases; null only if no DEADLOCK occurs
  const TickClock* clock = nullptr;
  uint64_t go_ticks = 0;                     // clock->ticks() at the start of the phase
  format::ThreadOutcome* outcome = nullptr;  // all zero; only this interpreter writes to it
  std::span<uint64_t> words;                 // room for every word of the program
  uint64_t words_spare = 0;                  // how many of `words` are for failed attempts
  std::span<std::byte> trace;                // room for the thread's evidence
  Recording* recording = nullptr;            // this thread's own; null if the phase is not recorded
};

// The hidden gets of a thread. The key of a hidden get depends on the word of the previous hidden
// get (format/hidden_key.h).
struct HiddenGets {
  const uint64_t* answer = nullptr;  // word of the last hidden get; null if there is none
  // The word of the last hidden get before the open transaction, from which a retry continues.
  // Valid only if this transaction has made a hidden get.
  const uint64_t* answer_before = nullptr;
  uint64_t key = 0;  // the key of the last hidden get
};

class InterpreterState {
 protected:
  explicit InterpreterState(const InterpreterInputs& inputs)
      : api_(inputs.api),
        pools_(inputs.pools),
        names_(inputs.names),
        events_(inputs.events),
        turns_(inputs.turns),
        retry_budget_(inputs.retry_budget),
        recording_(inputs.recording),
        clock_(*inputs.outcome, *inputs.clock, inputs.go_ticks),
        outcome_(inputs.outcome),
        words_(inputs.words),
        word_(inputs.words.data()),
        spare_(inputs.words_spare),
        evidence_(inputs.trace),
        is_plain_(inputs.recording == nullptr && !evidence_.enabled()),
        hot_(is_plain_) {}

  // The functions of a library. A function that chooses the next call returns kNone if there is no
  // call to make yet. The interpreter then chooses again.
  enum class Function : uint8_t {
    kNone,
    kCreate,
    kOpen,
    kClose,
    kBegin,
    kAbort,
    kCommit,
    kGet,
    kNext,
    kInsert,
    kDelete
  };

  // The arguments of the next call. A function uses only those that it has.
  struct Arguments {
    uint8_t slot = 0;    // the slot of the handle
    uint32_t index = 0;  // kCreate, kOpen: the number of the index
    TxnState* transaction = nullptr;
    Record* record = nullptr;
    Key* key = nullptr;
    const char* payload = nullptr;
  };

  // What the interpreter does at the current op, ops_[at_].
  enum class Task : uint8_t {
    kProgram,    // executes the ops one after another
    kCall,       // calls function_ once for the op
    kBare,       // calls function_ once for the op, which is a kBareCall (format/program.h)
    kScan,       // makes the calls of the op, which is a scan; only if is_plain_ is false
    kProcedure,  // makes the calls of the op, which runs a procedure
    kAbort,      // aborts the attempt and continues as after_abort_ says
    kRestore,    // closes and reopens handles after an attempt, then retries or gives up
    kRest        // skips the rest of a transaction that was given up
  };
  // What the interpreter does after it has aborted an attempt.
  enum class AfterAbort : uint8_t {
    kBegin,     // call beginTransaction again
    kRetry,     // repeat the transaction, or give it up
    kFail,      // give the transaction up as failed
    kContinue,  // continue after the transaction, which accepts any code (kAnyCode)
    kAborted    // continue after the transaction, which the program or a procedure aborts
  };

  // What the interpreter does after a result: it continues (kNext), repeats the transaction
  // (kRetry), or gives the transaction up (kFailed).
  enum class Flow : uint8_t { kNext, kRetry, kFailed };

  // A variable of the thread for one handle. Ops select it by number (Op::slot).
  struct Slot {
    IdxState* handle = nullptr;
    uint32_t index = 0;
    uint32_t opening = 0;  // number of the openIndex call; tells handles at one address apart
    KeyType type = SHORT;
    bool open = false;
  };

  // The state at the beginning of a transaction, restored for a retry.
  struct Saved {
    std::size_t at = 0;
    uint64_t evidence = 0;
    uint64_t* word = nullptr;
    uint32_t round = 0;
    // The slots as they were before the transaction opened or closed them. Bit s of changed_slots
    // is 1 if slots[s] is valid.
    std::array<Slot, format::kSlots> slots{};
    uint16_t changed_slots = 0;
  };

  // The state of a call that belongs to no explicit transaction. The call is repeated after
  // DEADLOCK.
  struct Single {
    // A special op is timed or has failed attempts. For all other ops, the interpreter only tests
    // the next two members, which is fast.
    uint32_t until_special = 1;  // auto-commit ops up to and including the next special one
    bool special = false;        // the current op is special
    bool timed = false;
    uint32_t attempts = 0;        // attempts that returned DEADLOCK
    uint32_t until_timed = 0;     // if attempts > 0: until_special for the ops after this one
    uint64_t deadlock_ticks = 0;  // when the call first returned DEADLOCK
    uint64_t evidence = 0;
    uint64_t* word = nullptr;
  };

  void set_task(Task task) {
    task_ = task;
    hot_ = task == Task::kProgram && is_plain_;
    if (hot_) publish(format::kInWords);
  }
  // Publishes where the thread is (format/outcome.h), so that the referee, which judges the run,
  // can name a call that never returns. The store is relaxed, because the referee uses the position
  // only as a hint.
  void publish(uint64_t position) {
    std::atomic_ref<uint64_t>(outcome_->position).store(position, std::memory_order_relaxed);
  }
  // Removes the words from `first` on, because their calls are repeated.
  void take_back_words(uint64_t* first) {
    while (word_ != first) *--word_ = 0;
  }
  const format::Op& op() const { return ops_[at_]; }
  OpPosition position() const { return {.op = ops_[at_], .number = base_ + at_, .round = round_}; }
  TxnState* transaction_of(const format::Op& op) const {
    return (op.flags & format::kAutoCommit) != 0 ? nullptr : transaction_;
  }
  // Returns true if the op belongs to a transaction with kAnyCode.
  bool accepts_any_code(const format::Op& op) const {
    return accepts_any_code_ && open_ && (op.flags & format::kAutoCommit) == 0;
  }

  const IndexApi* api_;
  const PoolsView* pools_;  // keys and texts of the current piece, a part of the program
  IndexNames* names_;
  Signals* events_;
  Turns* turns_;
  RetryBudget* retry_budget_;
  Recording* recording_;
  ThreadClock clock_;
  format::ThreadOutcome* outcome_;
  std::span<uint64_t> words_;
  uint64_t* word_;  // where the next word of the thread goes; while hot_, run() has a newer copy
  uint64_t spare_;  // remaining room for words of failed attempts
  // The first word of the attempt that a successful attempt would not write, such as the word of
  // its abort.
  uint64_t* unplanned_ = nullptr;
  EvidenceWriter evidence_;

  std::span<const format::Op> ops_;  // the ops of the current piece
  std::size_t at_ = 0;               // position of the current op in ops_
  uint64_t base_ = 0;                // number of ops_[0] in the program
  bool ended_ = false;               // a kUntil has ended the program
  Task task_ = Task::kProgram;
  const bool is_plain_;  // the thread leaves only words: it is not recorded and has no trace
  bool hot_;             // true: run() uses its fast path (task_ is kProgram and is_plain_)
  std::array<Slot, format::kSlots> slots_{};
  uint32_t openings_ = 0;  // openIndex calls so far
  CallBuffers buffers_;
  Function function_ = Function::kNone;  // the function that the tasks kCall and kBare call
  Arguments arguments_;                  // the arguments of the next call, unless hot_

  TxnState* transaction_ = nullptr;
  bool open_ = false;              // a transaction is open
  bool accepts_any_code_ = false;  // the kBegin of the transaction has kAnyCode
  uint32_t attempts_ = 0;          // attempts of the current transaction that ended with DEADLOCK
  uint64_t start_ticks_ = 0;
  // The start time of the next transaction, if it is known in advance. A kArrive op sets the start
  // time of the transaction after it. After a commit, the end time of the commit is the start time
  // of the next transaction. This saves one reading of the clock and adds about 10 ns to the
  // latency.
  static constexpr uint64_t kNowhere = UINT64_MAX;
  uint64_t known_start_ = kNowhere;  // op number of the kBegin whose start time is known
  uint64_t known_start_ticks_ = 0;
  uint32_t round_ = 0;  // current repetition of the kRepeat body
  Single single_;
  HiddenGets hidden_;
  ScanPosition scan_;
  Flow scan_flow_ = Flow::kNext;  // what to do after the last result of the current scan
  uint16_t kept_ = 0;             // bit s is 1 if kept_records_[s] is valid in this transaction
  static_assert(format::kSlots <= 16);
  std::array<Record, format::kSlots> kept_records_{};
  TxnState* bare_transaction_ = nullptr;  // the transaction of the last bare kBegin
  TxnState* bare_begun_ = nullptr;        // a bare kBegin passes the address of this variable

  ProcedureState procedure_;
  const format::Instruction* instruction_ = nullptr;  // the instruction that makes the current call
  bool in_scan_ = false;                              // true: the next call of a kScan is getNext
  bool unfit_ = false;        // a procedure missed a required record, see procedure.h
  std::size_t unfit_at_ = 0;  // the op that made the transaction unfit
  bool rolls_back_ = false;   // a procedure of the transaction asked for a rollback

  Saved saved_;
  AfterAbort after_abort_ = AfterAbort::kRetry;
  uint32_t aborts_ = 0;           // calls of abortTransaction so far in the task kAbort
  std::size_t restore_slot_ = 0;  // the next slot to restore
  bool retries_ = false;          // after kRestore: true repeats the transaction, false gives up
  std::size_t rest_end_ = 0;      // kRest: position of the first op after the transaction
  format::AttemptEnd given_up_ = format::AttemptEnd::kFailed;
};

}  // namespace keydrome::player
