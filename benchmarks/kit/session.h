// Session: the interpreter that plays one thread's program (program.h) against a library.
//
// It runs inside the jail beside the library, so it knows no workload, no seed and no expected
// answer, and everything it reports is checked by the judge. It is the only caller of IndexApi and
// plays fair with the library: Records are zeroed before each call, Keys and Records are private
// writable memory, index names live as long as the image.
//
// DEADLOCK inside a transaction: abort, back to its kBegin (digest, evidence and order violations
// too: a doomed attempt may read an inconsistent snapshot), again, as long as there is patience
// (patience.h). DEADLOCK from an auto-commit call: the same call again. An answer that the contract
// does not allow: the transaction is aborted and counted as failed, the first such answer is kept,
// and the program goes on behind it. A transaction with kOneAttempt is given up after its first
// DEADLOCK, which is no fault; one with kAnyCode goes on with its next call, whatever that answers,
// and is aborted when its commit does not succeed. Bare calls (kBareCall) have no part in any of
// this.
//
// Hot path: no allocation, no lock, one indirect call per API call. A Session belongs to one
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "benchmarks/kit/baton.h"
#include "benchmarks/kit/digest.h"
#include "benchmarks/kit/events.h"
#include "benchmarks/kit/index_api.h"
#include "benchmarks/kit/index_names.h"
#include "benchmarks/kit/outcome.h"
#include "benchmarks/kit/patience.h"
#include "benchmarks/kit/pools_view.h"
#include "benchmarks/kit/procedure_state.h"
#include "benchmarks/kit/program.h"
#include "benchmarks/kit/recorder.h"
#include "benchmarks/kit/trace_writer.h"
#include "benchmarks/kit/zeroed.h"

namespace keydrome {

// What a session borrows; all of it outlives the session.
struct SessionInputs {
  const IndexApi* api = nullptr;
  const PoolsView* pools = nullptr;
  IndexNames* names = nullptr;
  Events* events = nullptr;      // shared by the threads of the phase
  Baton* baton = nullptr;        // likewise; may be missing when no program has steps
  Patience* patience = nullptr;  // of the player; may be missing when nothing answers DEADLOCK
  const TickClock* clock = nullptr;
  uint64_t go_ticks = 0;             // clock->ticks() at GO, the same for all threads
  ThreadOutcome* outcome = nullptr;  // zeroed; the session's own
  std::span<TransactionEnd> ends;    // room for every transaction of the program
  std::span<std::byte> trace;
};

class Session {
 public:
  explicit Session(const SessionInputs& inputs);

  // Plays the thread's next ops: a whole round. Rounds of a phase are played in order.
  void run(std::span<const Op> ops);

  // After the last round: writes the last counters into the outcome.
  void finish();

 private:
  // What to do after an op.
  enum class Flow : uint8_t { kNext, kRetry, kFailed };

  struct Slot {
    IdxState* handle = nullptr;
    uint32_t index = 0;
    KeyType type = SHORT;
    bool open = false;
  };

  // What a transaction's beginning looked like, to come back to.
  struct Saved {
    std::size_t at = 0;
    Digest segment;
    uint64_t trace = 0, transaction = 0, gets = 0, get_hits = 0, order_violations = 0;
    uint32_t round = 0;
    std::array<Slot, kSlots> slots{};  // only when the transaction opened or closed a handle
    bool has_slots = false;
  };

  // The key of the get that a scan starts from, to check that getNext never goes backwards.
  struct Place {
    bool valid = false;
    uint8_t slot = 0;
    uint32_t key = 0;
  };

  // Where a run of calls ended: behind its last op, or at an op with another flow than kNext.
  struct Run {
    std::size_t at;
    Flow flow;
  };

  // What an auto-commit call's beginning looked like.
  struct AutoCommit {
    bool timed;
    uint64_t start_ticks, trace;
    Digest segment;
  };

  std::size_t step(std::span<const Op> ops, std::size_t at);
  Run run_calls(std::span<const Op> ops, std::size_t at, TxnState* transaction);
  template <KeyType kType>
  Run run_calls_on(std::span<const Op> ops, std::size_t at, TxnState* transaction);
  std::size_t after(Flow flow, std::span<const Op> ops, std::size_t at);
  std::size_t repeat(const Op& op, std::size_t at);
  std::size_t begin(std::span<const Op> ops, std::size_t at);
  std::size_t auto_commits(std::span<const Op> ops, std::size_t at);
  std::size_t auto_commit(const Op& op, std::size_t at);
  AutoCommit before_auto_commit(bool timed) const;
  std::size_t end_auto_commit(const Op& op, std::size_t at, Flow flow, const AutoCommit& before);
  std::size_t outside(const Op& op, std::size_t at);
  Flow finish_transaction(const Op& op, std::size_t at);
  Flow finish_unsuccessful(const Op& op, std::size_t at, uint32_t code);
  void bare_call(const Op& op, std::size_t at);
  uint32_t make_bare_call(const Op& op, const BareCall& bare, Record& record);
  Flow call(const Op& op, std::size_t at, TxnState* transaction);
  template <KeyType kType>
  uint32_t data_call(const Op& op, IdxState* handle, TxnState* transaction);
  uint32_t data_call(const Op& op, TxnState* transaction);
  Flow observed_call(const Op& op, std::size_t at, TxnState* transaction);
  Flow call_next(const Op& op, std::size_t at, TxnState* transaction);
  template <KeyType kType>
  Flow scan(const Op& op, std::size_t at, TxnState* transaction);
  Flow call_delete_read(const Op& op, std::size_t at, TxnState* transaction);
  template <typename T>
  T& computed(Zeroed<T>& string, Zeroed<T>& integer, const Slot& slot, int64_t number);
  Flow call_procedure(const Op& op, std::size_t at, TxnState* transaction);
  Flow call_instruction(const Instruction& instruction, const Op& op, std::size_t at,
                        TxnState* transaction);
  Flow judge_computed(uint32_t code, std::size_t at);
  Flow computed_get(const Instruction& instruction, const Op& op, std::size_t at,
                    TxnState* transaction);
  Flow get_computed(Record& record, const Slot& slot, const Op& op, std::size_t at,
                    TxnState* transaction);
  Flow computed_scan(const Instruction& instruction, const Op& op, std::size_t at,
                     TxnState* transaction);
  Flow finish_broken();
  Flow call_create(const Op& op, std::size_t at);
  Flow call_open(const Op& op, std::size_t at);
  Flow call_close(const Op& op, std::size_t at);

  Flow judge_code(const Op& op, std::size_t at, uint32_t code);
  Flow violation(std::size_t at, uint32_t code);
  bool out_of_patience(uint32_t attempts, uint64_t start_ticks);
  void observe(const Op& op, std::size_t at, uint32_t code);
  void observe_read(const Op& op, std::size_t at, uint32_t code, uint32_t call_number);
  void keep(const Op& op);
  void mark(std::size_t at);
  void chain_segment();

  std::size_t retry(std::span<const Op> ops, std::size_t at);
  std::size_t fail_transaction(std::span<const Op> ops);
  std::size_t give_up(std::span<const Op> ops, TransactionEnd how);
  bool synchronise(const Op& op);
  void abort_attempt();
  void yield(const Op& op);
  void arrive(const Op& op, std::size_t at);
  void save(std::size_t at);
  void save_slots();
  void restore();
  void uncount_auto_commits(std::span<const Op> ops);
  void restore_slots();
  template <KeyType kType>
  Record& prepare(const Op& op);
  template <KeyType kType>
  Key& prepare_key(const Op& op);
  void set_place(const Op& op, const TxnState* transaction);
  Record& record(KeyType type) {
    return (type == VARCHAR ? string_record_ : integer_record_).value();
  }
  // Whether the op belongs to a transaction that takes whatever comes.
  bool goes_on(const Op& op) const { return goes_on_ && open_ && (op.flags & kAutoCommit) == 0; }
  bool is_stream(const Op& op) const {
    return static_cast<Kind>((op.flags & kAutoCommit) != 0 || !open_ ? op.kind : kind_) ==
           Kind::kStream;
  }

  const IndexApi* api_;
  const PoolsView* pools_;
  IndexNames* names_;
  Events* events_;
  Baton* baton_;
  Patience* patience_;
  Recorder recorder_;
  ThreadOutcome* outcome_;
  std::span<TransactionEnd> ends_;
  TraceWriter trace_;

  std::array<Slot, kSlots> slots_{};
  TxnState* transaction_ = nullptr;
  bool open_ = false;                     // a transaction is open
  bool goes_on_ = false;                  // with kAnyCode on its kBegin
  TxnState* bare_transaction_ = nullptr;  // what the last bare kBegin gave
  uint8_t kind_ = 0, class_ = 0;
  uint32_t attempts_ = 0;
  uint64_t start_ticks_ = 0;
  // Where the start of a transaction is known before it begins: it was asked for at that time
  // (kArrive), or it begins right behind the commit of another and so when that one ended, which
  // saves one look at the clock and puts some 10 ns of bookkeeping into its latency.
  static constexpr uint64_t kNowhere = UINT64_MAX;
  uint64_t known_start_ = kNowhere;  // ordinal of its kBegin
  uint64_t known_start_ticks_ = 0;
  uint64_t next_transaction_ = 0;  // number of the next transaction
  uint64_t base_ = 0;              // ordinal of the round's first op
  uint32_t round_ = 0;             // of the kRepeat body
  Digest total_, segment_;
  Place place_;
  Saved saved_;
  uint16_t kept_ = 0;  // bit s: the transaction had a kKeep read of slot s; the last one returned:
  static_assert(kSlots <= 16);
  std::array<Record, kSlots> kept_records_{};
  ProcedureState procedure_;
  bool found_ = false;  // by the last get of a procedure
  bool unfit_ = false;  // the transaction is (procedure.h); since this op:
  std::size_t unfit_at_ = 0;
  bool rolls_back_ = false;  // a procedure of the transaction asked for it
  Zeroed<Record> string_record_, integer_record_;
  Zeroed<Key> string_key_, integer_key_;
  alignas(64) std::array<char, 128> payload_{};
};

}  // namespace keydrome
