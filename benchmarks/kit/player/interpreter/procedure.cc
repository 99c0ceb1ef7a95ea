// Implements the part of the interpreter that runs procedures. The interpreter executes the
// operations (ops) of one thread. A procedure is a transaction whose keys and payloads are computed
// from earlier results. If it misses a required record, it becomes *unfit* and must not commit
// (format/procedure.h).
#include <cstring>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "benchmarks/kit/player/interpreter.h"

namespace keydrome::player {
namespace {

// The window of reads that a procedure makes: the position of the payload bytes in their evidence
// words (format/evidence_word.h).
constexpr uint32_t kComputedWindow = format::kTagBytes;

// Returns true if an integer key from getNext is less than `number`.
bool is_below(KeyType type, const Key& key, int64_t number) {
  return (type == SHORT ? key.keyval.shortkey : key.keyval.intkey) < number;
}

bool gets(format::InstructionCode code) {
  return code == format::InstructionCode::kGet || code == format::InstructionCode::kGetByText ||
         code == format::InstructionCode::kScan;
}

// Returns the first call that an instruction makes.
history::EventCall first_call(format::InstructionCode code) {
  using history::EventCall;
  if (code == format::InstructionCode::kInsert) return EventCall::kInsert;
  return code == format::InstructionCode::kDelete ? EventCall::kDeleteKey : EventCall::kGet;
}

}  // namespace

// Returns the procedure's next call. Returns kNone if no call is prepared: the procedure has ended
// or become unfit, or a handle is missing.
Interpreter::Function Interpreter::next_of_procedure() {
  if (in_scan_) {
    const uint32_t limit = instruction_->limit == 0 ? format::kListMax : instruction_->limit;
    if (procedure_.count() < limit) {
      arguments_.record = &buffers_.empty_record(slots_[instruction_->c].type);
      return Function::kNext;
    }
    in_scan_ = false;
  }
  instruction_ = &procedure_.next_call();
  if (!format::is_call(instruction_->code)) {
    end_procedure(instruction_->code);
    return Function::kNone;
  }
  if (!slots_[instruction_->c].open) {
    set_task(Task::kProgram);
    end_op(op(), no_handle());
    return Function::kNone;
  }
  return procedure_call(*instruction_);
}

// Prepares a call. If there is no key with the number that the procedure has computed, makes no
// call; the transaction becomes unfit.
Interpreter::Function Interpreter::procedure_call(const format::Instruction& instruction) {
  const KeyType type = slots_[instruction.c].type;
  arguments_.slot = instruction.c;
  arguments_.transaction = transaction_;
  if (instruction.code == format::InstructionCode::kGetByText) {
    arguments_.record = &buffers_.record_of_text(procedure_.text(instruction.a));
    return Function::kGet;
  }
  const int64_t number = procedure_.value(instruction.a);
  std::string_view text;
  if (type == VARCHAR) {
    const std::optional<std::string_view> key = procedure_.string_key(number);
    if (!key) {
      procedure_.stop();
      return Function::kNone;
    }
    text = *key;
  }
  if (instruction.code == format::InstructionCode::kInsert) {
    arguments_.payload = buffers_.payload(procedure_.take_tag(), procedure_.text(instruction.b));
    arguments_.key =
        type == VARCHAR ? &buffers_.key_of_text(text) : &buffers_.computed_key(type, number);
    return Function::kInsert;
  }
  arguments_.record =
      type == VARCHAR ? &buffers_.record_of_text(text) : &buffers_.computed_record(type, number);
  if (instruction.code == format::InstructionCode::kDelete) return Function::kDelete;
  if (instruction.code == format::InstructionCode::kScan) procedure_.clear_list();
  return Function::kGet;
}

// Writes the words of a procedure's call: 8 bytes each that say which call was made and what it
// returned.
void Interpreter::write_computed_call(uint32_t code) {
  using history::EventCall;
  format::CallWord word{.call = EventCall::kGet, .slot = instruction_->c};
  uint64_t key = static_cast<uint64_t>(procedure_.value(instruction_->a));
  const char* bytes = nullptr;  // the bytes of the key that go into the evidence word of a getNext
  const Record* record = arguments_.record;
  const KeyType type = slots_[instruction_->c].type;
  if (in_scan_) {
    word.call = EventCall::kNext;
    bytes = format::word_bytes(record->key, type, kComputedWindow);
  } else if (instruction_->code == format::InstructionCode::kGetByText) {
    word.key_is_text = true;
    key = hash_bytes(procedure_.text(instruction_->a));
  } else if (instruction_->code == format::InstructionCode::kInsert) {
    word.call = EventCall::kInsert;
    word.number = procedure_.last_tag();
  } else if (instruction_->code == format::InstructionCode::kDelete) {
    word.call = EventCall::kDeleteKey;
  }
  write_word(word.packed(format::ControlWord::kComputedCall));
  if (format::has_key_word(word.call)) write_word(key);
  if (code == SUCCESS && bytes != nullptr) {
    write_word(format::record_word(record->payload, kComputedWindow, bytes));
  } else if (code == SUCCESS && word.call == EventCall::kGet) {
    write_word(format::get_word(record->payload, kComputedWindow, code));
  } else {
    write_word(format::code_word(code));
  }
}

// Handles the result of a procedure's call. The procedure continues, or the transaction is repeated
// or fails.
void Interpreter::procedure_result(uint32_t code) {
  write_computed_call(code);
  const Flow flow = procedure_flow(code);
  if (flow == Flow::kNext) return;
  set_task(Task::kProgram);
  end_op(op(), flow);
}

Interpreter::Flow Interpreter::procedure_flow(uint32_t code) {
  const bool is_get = gets(instruction_->code);
  const bool found = code == SUCCESS;
  if (in_scan_) return scan_flow(code);
  if (instruction_->code == format::InstructionCode::kDelete && code == KEY_NOTFOUND) {
    procedure_.stop();
    return Flow::kNext;
  }
  if (!found && !(is_get && code == KEY_NOTFOUND)) {
    return computed_failure(code, first_call(instruction_->code));
  }
  if (!is_get) return Flow::kNext;
  const std::string_view payload = found ? payload_bytes(*arguments_.record) : std::string_view();
  if (instruction_->code == format::InstructionCode::kScan) {
    in_scan_ = !found || procedure_.append(payload, instruction_->field);
    if (!in_scan_) procedure_.stop();
  } else if (found) {
    procedure_.set_row(instruction_->b, payload);
  } else if (instruction_->n != 0) {
    procedure_.jump(instruction_->n);
  } else {
    procedure_.stop();
  }
  return Flow::kNext;
}

// Handles the result of a getNext in a kScan. The scan ends at the first key that is not below the
// instruction's upper bound.
Interpreter::Flow Interpreter::scan_flow(uint32_t code) {
  in_scan_ = false;
  if (code == DB_END) return Flow::kNext;
  if (code != SUCCESS) return computed_failure(code, history::EventCall::kNext);
  const KeyType type = slots_[arguments_.slot].type;
  const Key& key = arguments_.record->key;
  const int64_t end = procedure_.value(instruction_->b);
  if (type == VARCHAR) {
    const std::optional<std::string_view> text = procedure_.string_key(end);
    if (!text) procedure_.stop();
    if (!text || key_bytes(key, VARCHAR) >= *text) return Flow::kNext;
  } else if (!is_below(type, key, end)) {
    return Flow::kNext;
  }
  in_scan_ = procedure_.append(payload_bytes(*arguments_.record), instruction_->field);
  if (!in_scan_) procedure_.stop();
  return Flow::kNext;
}

// Handles a result of `call` that ends the procedure early: DEADLOCK leads to a retry, and any
// other code is a violation.
Interpreter::Flow Interpreter::computed_failure(uint32_t code, history::EventCall call) {
  if (code != DEADLOCK) return violation(at_, code, static_cast<uint32_t>(call));
  ++outcome_->deadlocks;
  return Flow::kRetry;
}

// Continues with the op after the procedure. A transaction that is unfit or will roll back also
// continues up to its kCommit or kAbort.
void Interpreter::end_procedure(format::InstructionCode how) {
  set_task(Task::kProgram);
  if (how == format::InstructionCode::kRollBack) rolls_back_ = true;
  if (how == format::InstructionCode::kUnfit) {
    unfit_ = true;
    unfit_at_ = at_;
  }
  write_word(format::procedure_end_word(how));
  write_word(static_cast<uint64_t>(procedure_.result()));
  ++at_;
}

}  // namespace keydrome::player
