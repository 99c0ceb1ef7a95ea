// Procedures (procedure.h): calls whose keys and payloads are computed from what was read.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "benchmarks/kit/record_buffers.h"
#include "benchmarks/kit/session.h"

namespace keydrome {
namespace {

// A key that getNext gave against the number that stands for a key of the index: below it, or not.
bool is_below(const PoolsView& pools, KeyType type, const Key& key, int64_t number) {
  if (type == VARCHAR) {
    return key_bytes(key, VARCHAR) < pools.varchar_keys[static_cast<uint32_t>(number)];
  }
  return (type == SHORT ? key.keyval.shortkey : key.keyval.intkey) < number;
}

}  // namespace

template <typename T>
T& Session::computed(Zeroed<T>& string, Zeroed<T>& integer, const Slot& slot, int64_t number) {
  if (slot.type == VARCHAR) {
    return string.set_string(pools_->varchar_keys[static_cast<uint32_t>(number)]);
  }
  const auto bits = slot.type == SHORT ? static_cast<uint32_t>(number) : uint64_t(number);
  return integer.set_integer(slot.type, bits);
}

// Plays the op's procedure. A transaction that is unfit or rolls back goes on behind it, to its
// end.
Session::Flow Session::call_procedure(const Op& op, std::size_t at, TxnState* transaction) {
  procedure_.start(*pools_, op);
  place_.valid = false;
  while (true) {
    const Instruction& instruction = procedure_.next_call();
    if (instruction.code == InstructionCode::kEnd) break;
    if (instruction.code == InstructionCode::kRollBack) {
      rolls_back_ = true;
      break;
    }
    if (instruction.code == InstructionCode::kUnfit) {
      unfit_ = true;
      unfit_at_ = at;
      break;
    }
    const Slot& slot = slots_[instruction.c];
    if (!slot.open) return violation(at, kCodeNoHandle);
    const Flow flow = call_instruction(instruction, op, at, transaction);
    if (flow != Flow::kNext) return flow;
  }
  if ((op.flags & kEvidence) != 0) {
    const int64_t result = procedure_.result();
    trace_.append(base_ + at, static_cast<uint64_t>(round_) << 32, SUCCESS, {},
                  {reinterpret_cast<const char*>(&result), sizeof result});
  }
  return Flow::kNext;
}

Session::Flow Session::call_instruction(const Instruction& instruction, const Op& op,
                                        std::size_t at, TxnState* transaction) {
  const Slot& slot = slots_[instruction.c];
  const int64_t key = procedure_.value(instruction.a);
  uint32_t code = SUCCESS;
  switch (instruction.code) {
    case InstructionCode::kScan:
      return computed_scan(instruction, op, at, transaction);
    case InstructionCode::kGet:
    case InstructionCode::kGetByText:
      return computed_get(instruction, op, at, transaction);
    case InstructionCode::kInsert:
      put_payload(payload_.data(), procedure_.take_tag(), procedure_.text(instruction.b));
      code = static_cast<uint32_t>(
          api_->insertRecord(slot.handle, transaction,
                             &computed(string_key_, integer_key_, slot, key), payload_.data()));
      break;
    default:
      code = static_cast<uint32_t>(api_->deleteRecord(
          slot.handle, transaction, &computed(string_record_, integer_record_, slot, key)));
      break;
  }
  ++outcome_->calls;
  const bool is_delete = instruction.code == InstructionCode::kDelete;
  if (is_delete && code == KEY_NOTFOUND) {
    procedure_.stop();
    return Flow::kNext;
  }
  return judge_computed(code, at);
}

// What an answer means that is neither SUCCESS nor a miss.
Session::Flow Session::judge_computed(uint32_t code, std::size_t at) {
  if (code == SUCCESS) return Flow::kNext;
  if (code != DEADLOCK) return violation(at, code);
  ++outcome_->deadlocks;
  return Flow::kRetry;
}

Session::Flow Session::computed_get(const Instruction& instruction, const Op& op, std::size_t at,
                                    TxnState* transaction) {
  const Slot& slot = slots_[instruction.c];
  Record& record =
      instruction.code == InstructionCode::kGetByText
          ? string_record_.set_string(procedure_.text(instruction.a))
          : computed(string_record_, integer_record_, slot, procedure_.value(instruction.a));
  const Flow flow = get_computed(record, slot, op, at, transaction);
  if (flow != Flow::kNext) return flow;
  if (found_) {
    procedure_.set_row(instruction.b, payload_bytes(record));
  } else if (instruction.n != 0) {
    procedure_.jump(instruction.n);
  } else {
    procedure_.stop();
  }
  return Flow::kNext;
}

Session::Flow Session::get_computed(Record& record, const Slot& slot, const Op& op, std::size_t at,
                                    TxnState* transaction) {
  const auto code = static_cast<uint32_t>(api_->get(slot.handle, transaction, &record));
  ++outcome_->calls;
  found_ = code == SUCCESS;
  if (found_ || code == KEY_NOTFOUND) {
    if (is_stream(op)) {
      ++outcome_->gets;
      outcome_->get_hits += found_ ? 1 : 0;
    }
    return Flow::kNext;
  }
  return judge_computed(code, at);
}

// One get, then getNext while records are wanted and their keys are below the end.
Session::Flow Session::computed_scan(const Instruction& instruction, const Op& op, std::size_t at,
                                     TxnState* transaction) {
  const Slot& slot = slots_[instruction.c];
  const int64_t end = procedure_.value(instruction.b);
  const uint32_t limit = instruction.limit == 0 ? kListMax : instruction.limit;
  procedure_.clear_list();
  Record& first = computed(string_record_, integer_record_, slot, procedure_.value(instruction.a));
  const Flow flow = get_computed(first, slot, op, at, transaction);
  if (flow != Flow::kNext) return flow;
  if (found_ && !procedure_.append(payload_bytes(first), instruction.field)) {
    procedure_.stop();
    return Flow::kNext;
  }
  while (procedure_.count() < limit) {
    Record& record =
        slot.type == VARCHAR ? string_record_.clear() : integer_record_.set_integer(slot.type, 0);
    record.key.type = slot.type;
    const auto code = static_cast<uint32_t>(api_->getNext(slot.handle, transaction, &record));
    ++outcome_->calls;
    if (code == DB_END) break;
    if (code != SUCCESS) return judge_computed(code, at);
    if (!is_below(*pools_, slot.type, record.key, end)) break;
    if (!procedure_.append(payload_bytes(record), instruction.field)) {
      procedure_.stop();
      break;
    }
  }
  return Flow::kNext;
}

// After a commit that succeeded although the transaction had read what cannot have been there.
Session::Flow Session::finish_broken() {
  open_ = false;
  return violation(unfit_at_, kCodeUnfit);
}

}  // namespace keydrome
