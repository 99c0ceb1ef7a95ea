// getNext: runs of calls on one cursor, with a check that they never go backwards.
#include <array>
#include <cstring>

#include "benchmarks/kit/record_buffers.h"
#include "benchmarks/kit/session.h"

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

}  // namespace

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
  // An auto-commit call reads the first record, wherever a transaction before it stood.
  bool ordered = transaction != nullptr && place_.valid && place_.slot == op.slot;
  if (ordered) place.set_from_pool(*pools_, place_.key);
  place_.valid = false;
  for (uint32_t number = 0; number < calls; ++number) {
    Record& record =
        kType == VARCHAR ? string_record_.clear() : integer_record_.set_integer(kType, 0);
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

}  // namespace keydrome
