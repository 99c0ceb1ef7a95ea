// The hot half of Session: one call after the other. What happens when something goes wrong is in
// session_recovery.cc.
//
// What plays a short transaction is inlined into run(): three ops of one call each would else spend
// more on calling each other than on the library.
#include "benchmarks/kit/session.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/kit/record_buffers.h"
#include "benchmarks/kit/recording.h"

namespace keydrome {
namespace {

// A call of get, insertRecord or deleteRecord that leaves nothing behind but counters.
constexpr bool is_plain(const Op& op) {
  return (op.flags & kObserved) == 0 && is_data_call(op.code);
}

// The first four bytes of an op: code, flags, slot, kind and class.
inline uint32_t head(const Op& op) {
  uint32_t head = 0;
  std::memcpy(&head, &op, sizeof head);
  return head;
}

// Whether the op may follow in a run of plain ops with that head: it is plain too, an auto-commit
// call or none like them, and has the same slot, kind and class.
inline bool continues_run(const Op& op, uint32_t run_head) {
  constexpr uint32_t kDecidedOnce = 0xffff0000u | kAutoCommit << 8;
  const uint32_t difference = head(op) ^ run_head;
  return difference == 0 || ((difference & kDecidedOnce) == 0 && is_plain(op));
}

}  // namespace

Session::Session(const SessionInputs& inputs)
    : api_(inputs.api),
      pools_(inputs.pools),
      names_(inputs.names),
      events_(inputs.events),
      baton_(inputs.baton),
      patience_(inputs.patience),
      recorder_(*inputs.outcome, *inputs.clock, inputs.go_ticks),
      outcome_(inputs.outcome),
      ends_(inputs.ends),
      trace_(inputs.trace) {}

void Session::run(std::span<const Op> ops) {
  known_start_ = kNowhere;  // the thread may have waited for this round
  for (std::size_t at = 0; at < ops.size();) at = step(ops, at);
  base_ += ops.size();
  recorder_.progress(base_);
}

void Session::finish() {
  chain_segment();
  outcome_->digest = total_.value();
  outcome_->transactions = next_transaction_;
  outcome_->trace_bytes = trace_.position();
  outcome_->trace_dropped = trace_.dropped();
  recorder_.finish();
}

// Executes the op and returns the position of the next one.
[[gnu::always_inline]] inline std::size_t Session::step(std::span<const Op> ops, std::size_t at) {
  const Op& op = ops[at];
  recorder_.progress(base_ + at);
  switch (op.code) {
    case OpCode::kBegin:
      return begin(ops, at);
    case OpCode::kRepeat:
      return repeat(op, at);
    case OpCode::kMark:
      mark(at);
      return at + 1;
    case OpCode::kSignal:
    case OpCode::kStep:
    case OpCode::kStepDone:
      synchronise(op);
      Recording::paused();
      return at + 1;
    case OpCode::kWait:
      events_->wait(op.argument, op.payload);
      Recording::paused();
      return at + 1;
    case OpCode::kYield:
      yield(op);
      Recording::paused();
      return at + 1;
    case OpCode::kArrive:
      arrive(op, at);
      Recording::paused();
      return at + 1;
    case OpCode::kBareCall:
      bare_call(op, at);
      return at + 1;
    default:
      break;
  }
  if ((op.flags & kAutoCommit) != 0) return auto_commits(ops, at);
  if (!open_) return outside(op, at);
  if (op.code == OpCode::kCommit || op.code == OpCode::kAbort) {
    return after(finish_transaction(op, at), ops, at);
  }
  if (is_plain(op) && slots_[op.slot].open) {
    const Run run = run_calls(ops, at, transaction_);
    return run.flow == Flow::kNext ? run.at : after(run.flow, ops, run.at);
  }
  return after(call(op, at, transaction_), ops, at);
}

// Where to go on after an op of the open transaction.
std::size_t Session::after(Flow flow, std::span<const Op> ops, std::size_t at) {
  if (flow == Flow::kNext) return at + 1;
  return flow == Flow::kRetry ? retry(ops, at) : fail_transaction(ops);
}

// A record with the op's key and nothing else.
template <KeyType kType>
inline Record& Session::prepare(const Op& op) {
  if constexpr (kType == VARCHAR) {
    return string_record_.set_string(pools_->varchar_keys[op.key]);
  } else {
    return integer_record_.set_integer(kType, integer_bits<kType>(*pools_, op.key));
  }
}

template <KeyType kType>
inline Key& Session::prepare_key(const Op& op) {
  if constexpr (kType == VARCHAR) {
    return string_key_.set_string(pools_->varchar_keys[op.key]);
  } else {
    return integer_key_.set_integer(kType, integer_bits<kType>(*pools_, op.key));
  }
}

// A scan may start from the key of a get; anything else that moves the cursor ends that.
inline void Session::set_place(const Op& op, const TxnState* transaction) {
  place_ = {
      .valid = op.code == OpCode::kGet && transaction != nullptr, .slot = op.slot, .key = op.key};
}

// Calls the library with private copies of everything that it gets.
template <KeyType kType>
[[gnu::always_inline]] inline uint32_t Session::data_call(const Op& op, IdxState* handle,
                                                          TxnState* transaction) {
  if (op.code == OpCode::kGet) [[likely]] {
    return static_cast<uint32_t>(api_->get(handle, transaction, &prepare<kType>(op)));
  }
  if (op.code == OpCode::kInsert) {
    put_payload(payload_.data(), op.argument, pools_->payloads[op.payload]);
    return static_cast<uint32_t>(
        api_->insertRecord(handle, transaction, &prepare_key<kType>(op), payload_.data()));
  }
  Record& record = prepare<kType>(op);
  if (op.code == OpCode::kDeletePair) {
    put_payload(record.payload, op.argument, pools_->payloads[op.payload]);
  }
  return static_cast<uint32_t>(api_->deleteRecord(handle, transaction, &record));
}

uint32_t Session::data_call(const Op& op, TxnState* transaction) {
  const Slot& slot = slots_[op.slot];
  switch (slot.type) {
    case SHORT:
      return data_call<SHORT>(op, slot.handle, transaction);
    case INT:
      return data_call<INT>(op, slot.handle, transaction);
    default:
      return data_call<VARCHAR>(op, slot.handle, transaction);
  }
}

// Makes the calls of alike plain ops on one open handle, one after the other. Ends behind the run,
// or at an op that cannot be left behind.
[[gnu::always_inline]] inline Session::Run Session::run_calls(std::span<const Op> ops,
                                                              std::size_t at,
                                                              TxnState* transaction) {
  switch (slots_[ops[at].slot].type) {
    case SHORT:
      return run_calls_on<SHORT>(ops, at, transaction);
    case INT:
      return run_calls_on<INT>(ops, at, transaction);
    default:
      return run_calls_on<VARCHAR>(ops, at, transaction);
  }
}

// The hottest loop: what is the same for the whole run is decided before it or counted after it,
// and what happens rarely is counted instead of what happens often.
template <KeyType kType>
Session::Run Session::run_calls_on(std::span<const Op> ops, std::size_t at, TxnState* transaction) {
  const uint32_t run_head = head(ops[at]);
  const Slot slot = slots_[ops[at].slot];
  const Op* const first = &ops[at];
  const Op* const end = ops.data() + ops.size();
  const Op* op = first;
  const uint64_t first_number = base_ + at;
  uint64_t writes = 0, misses = 0;
  Flow flow = Flow::kNext;
  do {
    recorder_.progress(first_number + static_cast<uint64_t>(op - first));
    const bool is_get = op->code == OpCode::kGet;
    const uint32_t code = data_call<kType>(*op, slot.handle, transaction);
    if (code != SUCCESS) [[unlikely]] {
      if (is_get && code == KEY_NOTFOUND) {
        ++misses;
      } else {
        flow = judge_code(*op, static_cast<std::size_t>(op - ops.data()), code);
        if (flow != Flow::kNext) break;
        if (is_get) ++misses;
      }
    }
    if (!is_get) ++writes;
    ++op;
  } while (op != end && continues_run(*op, run_head));
  const auto done = static_cast<uint64_t>(op - first);
  outcome_->calls += done + (flow == Flow::kNext ? 0 : 1);
  if (is_stream(*first)) {
    const uint64_t gets = done - writes;
    outcome_->gets += gets;
    outcome_->get_hits += gets - misses;
  }
  if (done > 0) set_place(op[-1], transaction);
  return {.at = at + done, .flow = flow};
}

// One data call with all that it may leave behind.
Session::Flow Session::observed_call(const Op& op, std::size_t at, TxnState* transaction) {
  const uint32_t code = data_call(op, transaction);
  ++outcome_->calls;
  const Flow flow = judge_code(op, at, code);
  if (flow != Flow::kNext) return flow;
  set_place(op, transaction);
  if (op.code != OpCode::kGet) {
    observe(op, at, code);
    return flow;
  }
  if (is_stream(op)) {
    ++outcome_->gets;
    outcome_->get_hits += code == SUCCESS ? 1 : 0;
  }
  observe_read(op, at, code, 0);
  return flow;
}

std::size_t Session::repeat(const Op& op, std::size_t at) {
  if (round_ < op.argument) {
    ++round_;
    return at - op.payload;
  }
  round_ = 0;
  return at + 1;
}

inline void Session::save(std::size_t at) {
  saved_.at = at;
  saved_.segment = segment_;
  saved_.trace = trace_.position();
  saved_.transaction = next_transaction_;
  saved_.gets = outcome_->gets;
  saved_.get_hits = outcome_->get_hits;
  saved_.order_violations = outcome_->order_violations;
  saved_.round = round_;
  saved_.has_slots = false;
}

[[gnu::always_inline]] inline std::size_t Session::begin(std::span<const Op> ops, std::size_t at) {
  const Op& op = ops[at];
  if (attempts_ == 0) {
    start_ticks_ = base_ + at == known_start_ ? known_start_ticks_ : recorder_.ticks();
    known_start_ = kNowhere;
  }
  save(at);
  ends_[next_transaction_++] = TransactionEnd::kNotRun;
  kind_ = op.kind;
  class_ = op.class_;
  goes_on_ = (op.flags & kAnyCode) != 0;
  place_.valid = false;
  kept_ = 0;
  unfit_ = false;
  rolls_back_ = false;
  while (true) {
    transaction_ = nullptr;
    const uint32_t code = static_cast<uint32_t>(api_->beginTransaction(&transaction_));
    ++outcome_->calls;
    if (code == SUCCESS) {
      open_ = true;
      return at + 1;
    }
    if (code != DEADLOCK) {
      violation(at, code);
      return fail_transaction(ops);
    }
    ++outcome_->deadlocks;
    if (transaction_ != nullptr) abort_attempt();
    recorder_.progress(base_ + at);
    if ((op.flags & kOneAttempt) != 0) return give_up(ops, TransactionEnd::kDeadlocked);
    if (out_of_patience(++attempts_, start_ticks_)) {
      violation(at, kCodeNoProgress);
      return fail_transaction(ops);
    }
    sched_yield();
  }
}

[[gnu::always_inline]] inline Session::Flow Session::finish_transaction(const Op& op,
                                                                        std::size_t at) {
  const bool aborts = op.code == OpCode::kAbort || rolls_back_;
  if (aborts) {
    const uint32_t code = static_cast<uint32_t>(api_->abortTransaction(transaction_));
    ++outcome_->calls;
    if (code == DEADLOCK) {
      ++outcome_->deadlocks;
      abort_attempt();
    } else if (code != SUCCESS && (!goes_on_ || code > FAILURE)) {
      open_ = false;
      return violation(at, code);
    }
    ++outcome_->aborted;
  } else {
    const uint32_t code = static_cast<uint32_t>(api_->commitTransaction(transaction_));
    ++outcome_->calls;
    if (code != SUCCESS) return finish_unsuccessful(op, at, code);
    if (unfit_) [[unlikely]] {
      return finish_broken();
    }
    known_start_ticks_ = recorder_.committed(class_, start_ticks_);
    known_start_ = base_ + at + 1;
  }
  ends_[saved_.transaction] = aborts ? TransactionEnd::kAborted : TransactionEnd::kCommitted;
  if (!segment_.empty()) [[unlikely]] {
    chain_segment();
  }
  open_ = false;
  attempts_ = 0;
  return Flow::kNext;
}

// Auto-commit calls up to the next one that is timed, and that one by itself.
std::size_t Session::auto_commits(std::span<const Op> ops, std::size_t at) {
  const Op& first = ops[at];
  const uint32_t untimed = recorder_.calls_until_sample();
  if (untimed == 0 || !is_plain(first) || !slots_[first.slot].open) return auto_commit(first, at);
  const Run run = run_calls(ops.first(std::min(ops.size(), at + untimed)), at, nullptr);
  const auto count = static_cast<uint32_t>(run.at - at);
  std::fill_n(ends_.begin() + static_cast<std::ptrdiff_t>(next_transaction_), count,
              TransactionEnd::kCommitted);
  next_transaction_ += count;
  recorder_.committed_untimed(first.class_, count);
  recorder_.skip_calls(count + (run.flow == Flow::kNext ? 0 : 1));
  if (run.flow == Flow::kNext) return run.at;
  return end_auto_commit(ops[run.at], run.at, run.flow, before_auto_commit(false));
}

std::size_t Session::auto_commit(const Op& op, std::size_t at) {
  const AutoCommit before = before_auto_commit(recorder_.sample_call());
  return end_auto_commit(op, at, call(op, at, nullptr), before);
}

Session::AutoCommit Session::before_auto_commit(bool timed) const {
  return {.timed = timed,
          .start_ticks = timed ? recorder_.ticks() : 0,
          .trace = trace_.position(),
          .segment = segment_};
}

Session::Flow Session::call(const Op& op, std::size_t at, TxnState* transaction) {
  if (op.code == OpCode::kCreate) return call_create(op, at);
  if (op.code == OpCode::kOpen) return call_open(op, at);
  if (op.code == OpCode::kRun) return call_procedure(op, at, transaction);
  if (!slots_[op.slot].open) [[unlikely]] {
    return violation(at, kCodeNoHandle);
  }
  if (op.code == OpCode::kNext || op.code == OpCode::kNextToEnd)
    return call_next(op, at, transaction);
  if (op.code == OpCode::kClose) return call_close(op, at);
  if (op.code == OpCode::kDeleteRead) return call_delete_read(op, at, transaction);
  return observed_call(op, at, transaction);
}

// Evidence of a call that reads nothing: its code.
void Session::observe(const Op& op, std::size_t at, uint32_t code) {
  if ((op.flags & kDigest) != 0) segment_.start_group(digest_item(code, {}, {}));
  if ((op.flags & (kEvidence | kEvidenceAll)) != 0) {
    trace_.append(base_ + at, static_cast<uint64_t>(round_) << 32, code, {}, {});
  }
}

// Evidence of a get or of one getNext call.
void Session::observe_read(const Op& op, std::size_t at, uint32_t code, uint32_t call_number) {
  std::string_view key, payload;
  const KeyType type = slots_[op.slot].type;
  if (code == SUCCESS) {
    key = op.code == OpCode::kGet ? pool_key_bytes(*pools_, type, op.key)
                                  : key_bytes(record(type).key, type);
    payload = payload_bytes(record(type));
  }
  if ((op.flags & kKeep) != 0 && code == SUCCESS) keep(op);
  if ((op.flags & kDigest) != 0) {
    const uint64_t item = digest_item(code, key, payload);
    op.code == OpCode::kGet ? segment_.start_group(item) : segment_.add(item);
  }
  const bool last = op.code == OpCode::kGet ||
                    (op.code == OpCode::kNext && call_number + 1 == op.argument) ||
                    (op.code == OpCode::kNextToEnd && code != SUCCESS);
  if ((op.flags & kEvidenceAll) != 0 || ((op.flags & kEvidence) != 0 && last)) {
    trace_.append(base_ + at, static_cast<uint64_t>(round_) << 32 | call_number, code, key,
                  payload);
  }
}

void Session::mark(std::size_t at) {
  trace_.append(base_ + at, segment_.value(), SUCCESS, {}, {});
  segment_ = Digest();
}

// The digest of what was read since the last mark becomes part of the thread's digest.
void Session::chain_segment() {
  if (segment_.empty()) return;
  total_.chain(segment_.value());
  segment_ = Digest();
}

}  // namespace keydrome
