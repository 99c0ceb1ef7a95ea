// The hot half of Session: one call after the other. What happens when something goes wrong is in
// session_recovery.cc.
#include "benchmarks/kit/session.h"

#include <sched.h>

#include <bit>

#include "benchmarks/kit/record_buffers.h"

namespace keydrome {
namespace {

// A key on which getNext stands, in the form that is fastest to compare: integers by value, strings
// as a copy.
template <KeyType kType>
class ScanKey {
 public:
  void set_from_pool(const PoolsView& pools, uint32_t number) {
    if constexpr (kType == SHORT) {
      number_ = pools.int32_keys[number];
    } else if constexpr (kType == INT) {
      number_ = pools.int64_keys[number];
    } else {
      set_text(pools.varchar_keys[number]);
    }
  }

  // Moves to the key; false when that is a step backwards.
  bool advance(const Key& key) {
    if constexpr (kType == VARCHAR) {
      const std::string_view next = key_bytes(key, VARCHAR);
      const bool forward = std::string_view(text_.data(), size_) <= next;
      set_text(next);
      return forward;
    } else {
      const int64_t next = kType == SHORT ? key.keyval.shortkey : key.keyval.intkey;
      const bool forward = number_ <= next;
      number_ = next;
      return forward;
    }
  }

 private:
  void set_text(std::string_view text) {
    size_ = text.size();
    std::memcpy(text_.data(), text.data(), size_);
  }

  int64_t number_ = 0;
  std::size_t size_ = 0;
  std::array<char, MAX_VARCHAR_LEN + 1> text_;
};

constexpr bool is_data_call(OpCode code) {
  return code == OpCode::kGet || code == OpCode::kInsert || code == OpCode::kDeleteKey ||
         code == OpCode::kDeletePair;
}

constexpr uint8_t kObserved = kEvidence | kEvidenceAll | kDigest | kKeep;

}  // namespace

Session::Session(const SessionInputs& inputs)
    : api_(inputs.api),
      pools_(inputs.pools),
      names_(inputs.names),
      events_(inputs.events),
      baton_(inputs.baton),
      recorder_(*inputs.outcome, *inputs.clock, inputs.go_ticks),
      outcome_(inputs.outcome),
      ends_(inputs.ends),
      trace_(inputs.trace) {}

void Session::run(std::span<const Op> ops) {
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
std::size_t Session::step(std::span<const Op> ops, std::size_t at) {
  const Op& op = ops[at];
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
      return at + 1;
    case OpCode::kWait:
      events_->wait(op.argument, op.payload);
      return at + 1;
    case OpCode::kYield:
      yield(op);
      return at + 1;
    default:
      break;
  }
  if ((op.flags & kAutoCommit) != 0) return auto_commit(op, at);
  if (!open_) return outside(op, at);
  if (op.code == OpCode::kCommit || op.code == OpCode::kAbort) {
    return after(finish_transaction(op, at), ops, at);
  }
  if (slots_[op.slot].open && is_data_call(op.code)) return data_ops(ops, at);
  return after(call(op, at, transaction_), ops, at);
}

// Where to go on after an op of the open transaction.
std::size_t Session::after(Flow flow, std::span<const Op> ops, std::size_t at) {
  if (flow == Flow::kNext) return at + 1;
  return flow == Flow::kRetry ? retry(ops, at) : fail_transaction(ops);
}

// The gets, inserts and deletes of a transaction one after the other on one open handle: the
// hottest loop.
std::size_t Session::data_ops(std::span<const Op> ops, std::size_t at) {
  Tally tally;
  const uint8_t slot = ops[at].slot;
  Flow flow = Flow::kNext;
  for (; at < ops.size(); ++at) {
    const Op& op = ops[at];
    if ((op.flags & kAutoCommit) != 0 || op.slot != slot) break;
    if (op.code == OpCode::kGet) {
      flow = call_get(op, at, transaction_, tally);
    } else if (op.code == OpCode::kInsert) {
      flow = call_insert(op, at, transaction_, tally);
    } else if (op.code == OpCode::kDeleteKey || op.code == OpCode::kDeletePair) {
      flow = call_delete(op, at, transaction_, tally);
    } else {
      break;
    }
    if (flow != Flow::kNext) [[unlikely]] {
      break;
    }
  }
  add(tally);
  return flow == Flow::kNext ? at : after(flow, ops, at);
}

void Session::add(const Tally& tally) {
  outcome_->calls += tally.calls;
  outcome_->gets += tally.gets;
  outcome_->get_hits += tally.get_hits;
}

std::size_t Session::repeat(const Op& op, std::size_t at) {
  if (round_ < op.argument) {
    ++round_;
    return at - op.payload;
  }
  round_ = 0;
  return at + 1;
}

std::size_t Session::begin(std::span<const Op> ops, std::size_t at) {
  const Op& op = ops[at];
  if (attempts_ == 0) start_ticks_ = recorder_.ticks();
  save(at);
  ends_[next_transaction_++] = TransactionEnd::kNotRun;
  kind_ = op.kind;
  class_ = op.class_;
  place_.valid = false;
  forget_kept();
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
    if ((op.flags & kOneAttempt) != 0) return give_up(ops, TransactionEnd::kDeadlocked);
    if (out_of_patience(++attempts_, start_ticks_)) {
      violation(at, kCodeNoProgress);
      return fail_transaction(ops);
    }
    sched_yield();
  }
}

Session::Flow Session::finish_transaction(const Op& op, std::size_t at) {
  if (op.code == OpCode::kAbort) {
    const uint32_t code = static_cast<uint32_t>(api_->abortTransaction(transaction_));
    ++outcome_->calls;
    if (code == DEADLOCK) {
      ++outcome_->deadlocks;
      abort_attempt();
    } else if (code != SUCCESS) {
      open_ = false;
      return violation(at, code);
    }
    ++outcome_->aborted;
  } else {
    const uint32_t code = static_cast<uint32_t>(api_->commitTransaction(transaction_));
    ++outcome_->calls;
    if (code != SUCCESS) {
      if (code == TXN_DNE) open_ = false;
      return judge_code(op, at, code);
    }
    recorder_.committed(class_, start_ticks_);
  }
  ends_[saved_.transaction] =
      op.code == OpCode::kAbort ? TransactionEnd::kAborted : TransactionEnd::kCommitted;
  chain_segment();
  open_ = false;
  attempts_ = 0;
  recorder_.progress(base_ + at);
  return Flow::kNext;
}

std::size_t Session::auto_commit(const Op& op, std::size_t at) {
  const bool timed = recorder_.sample_call();
  const uint64_t start = timed ? recorder_.ticks() : 0;
  const uint64_t trace = trace_.position();
  const Digest segment = segment_;
  TransactionEnd& end = ends_[next_transaction_++];
  Flow flow = call(op, at, nullptr);
  const uint64_t retry_start = flow == Flow::kRetry ? recorder_.ticks() : 0;
  for (uint32_t attempt = 1; flow == Flow::kRetry; ++attempt) {
    if (out_of_patience(attempt, retry_start)) {
      flow = violation(at, kCodeNoProgress);
      break;
    }
    sched_yield();
    trace_.rewind(trace);
    segment_ = segment;
    flow = call(op, at, nullptr);
  }
  if (flow == Flow::kNext) {
    end = TransactionEnd::kCommitted;
    timed ? recorder_.committed(op.class_, start) : recorder_.committed_untimed(op.class_);
  } else {
    end = TransactionEnd::kFailed;
    ++outcome_->failed;
    trace_.rewind(trace);
    segment_ = segment;
  }
  if (timed) recorder_.progress(base_ + at);
  return at + 1;
}

Session::Flow Session::call(const Op& op, std::size_t at, TxnState* transaction) {
  if (op.code == OpCode::kCreate) return call_create(op, at);
  if (op.code == OpCode::kOpen) return call_open(op, at);
  if (!slots_[op.slot].open) [[unlikely]] {
    return violation(at, kCodeNoHandle);
  }
  if (op.code == OpCode::kNext || op.code == OpCode::kNextToEnd)
    return call_next(op, at, transaction);
  if (op.code == OpCode::kClose) return call_close(op, at);
  if (op.code == OpCode::kDeleteRead) return call_delete_read(op, at, transaction);
  Tally tally;
  const Flow flow = op.code == OpCode::kGet      ? call_get(op, at, transaction, tally)
                    : op.code == OpCode::kInsert ? call_insert(op, at, transaction, tally)
                                                 : call_delete(op, at, transaction, tally);
  add(tally);
  return flow;
}

// A record with the op's key and nothing else.
inline Record& Session::prepare(const Op& op, KeyType type) {
  if (type == VARCHAR) return string_record_.set_string(pools_->varchar_keys[op.key]);
  Record& record = integer_record_.clear_integer();
  set_integer(record.key, type, *pools_, op.key);
  return record;
}

[[gnu::always_inline]] inline Session::Flow Session::call_get(const Op& op, std::size_t at,
                                                              TxnState* transaction, Tally& tally) {
  const Slot& slot = slots_[op.slot];
  Record& record = prepare(op, slot.type);
  const uint32_t code = static_cast<uint32_t>(api_->get(slot.handle, transaction, &record));
  ++tally.calls;
  if (code != SUCCESS && code != KEY_NOTFOUND) [[unlikely]] {
    const Flow flow = judge_code(op, at, code);
    if (flow != Flow::kNext) return flow;
  }
  if (is_stream(op)) {
    ++tally.gets;
    tally.get_hits += code == SUCCESS ? 1 : 0;
  }
  place_ = {.valid = transaction != nullptr, .slot = op.slot, .key = op.key};
  if ((op.flags & kObserved) != 0) [[unlikely]] {
    observe_read(op, at, code, 0);
  }
  return Flow::kNext;
}

Session::Flow Session::call_next(const Op& op, std::size_t at, TxnState* transaction) {
  switch (slots_[op.slot].type) {
    case SHORT:
      return scan<SHORT>(op, at, transaction);
    case INT:
      return scan<INT>(op, at, transaction);
    default:
      return scan<VARCHAR>(op, at, transaction);
  }
}

template <KeyType kType>
Session::Flow Session::scan(const Op& op, std::size_t at, TxnState* transaction) {
  IdxState* const handle = slots_[op.slot].handle;
  const bool to_end = op.code == OpCode::kNextToEnd;
  const uint32_t calls = op.argument + (to_end ? 1u : 0u);
  ScanKey<kType> place;
  bool ordered = place_.valid && place_.slot == op.slot;
  if (ordered) place.set_from_pool(*pools_, place_.key);
  place_.valid = false;
  for (uint32_t number = 0; number < calls; ++number) {
    Record& record = kType == VARCHAR ? string_record_.clear() : integer_record_.clear_integer();
    record.key.type = kType;
    const uint32_t code = static_cast<uint32_t>(api_->getNext(handle, transaction, &record));
    ++outcome_->calls;
    if (code == SUCCESS) [[likely]] {
      if (to_end && number + 1 == calls) return violation(at, kCodeEndless);
      const bool forward = place.advance(record.key);
      if (ordered && !forward) ++outcome_->order_violations;
      ordered = transaction != nullptr;
    } else if (code == DB_END) {
      ordered = false;
    } else {
      const Flow flow = judge_code(op, at, code);
      if (flow != Flow::kNext) return flow;
    }
    if ((op.flags & kObserved) != 0) [[unlikely]] {
      observe_read(op, at, code, number);
    }
    if (to_end && code != SUCCESS) break;
  }
  return Flow::kNext;
}

[[gnu::always_inline]] inline Session::Flow Session::call_insert(const Op& op, std::size_t at,
                                                                 TxnState* transaction,
                                                                 Tally& tally) {
  const Slot& slot = slots_[op.slot];
  Key* key = nullptr;
  if (slot.type == VARCHAR) {
    key = &string_key_.set_string(pools_->varchar_keys[op.key]);
  } else {
    key = &integer_key_.clear_integer();
    set_integer(*key, slot.type, *pools_, op.key);
  }
  put_payload(payload_.data(), op.argument, pools_->payloads[op.payload]);
  const uint32_t code =
      static_cast<uint32_t>(api_->insertRecord(slot.handle, transaction, key, payload_.data()));
  ++tally.calls;
  return wrote(op, at, code);
}

[[gnu::always_inline]] inline Session::Flow Session::call_delete(const Op& op, std::size_t at,
                                                                 TxnState* transaction,
                                                                 Tally& tally) {
  const Slot& slot = slots_[op.slot];
  Record& record = prepare(op, slot.type);
  if (op.code == OpCode::kDeletePair)
    put_payload(record.payload, op.argument, pools_->payloads[op.payload]);
  const uint32_t code =
      static_cast<uint32_t>(api_->deleteRecord(slot.handle, transaction, &record));
  ++tally.calls;
  return wrote(op, at, code);
}

inline Session::Flow Session::wrote(const Op& op, std::size_t at, uint32_t code) {
  place_.valid = false;
  if (code != SUCCESS) [[unlikely]] {
    const Flow flow = judge_code(op, at, code);
    if (flow != Flow::kNext) return flow;
  }
  if ((op.flags & kObserved) != 0) [[unlikely]] {
    observe(op, at, code);
  }
  return Flow::kNext;
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
