// Implements ProcedureBuilder: checks the operands of each instruction and replaces labels with
// positions.
#include "benchmarks/kit/script/procedure_builder.h"

#include "base/check.h"

namespace keydrome::script {
namespace {

using Code = format::InstructionCode;

constexpr uint32_t kNotPlaced = UINT32_MAX;

// Returns true if `n` of the instruction is the number of a label plus 1. For a get, 0 means that
// there is no label.
bool has_label(const format::Instruction& instruction) {
  const bool may_miss = instruction.code == Code::kGet || instruction.code == Code::kGetByText;
  return format::is_jump(instruction.code) || (may_miss && instruction.n != 0);
}

int32_t label_number(ProcedureBuilder::Label label) {
  return label == ProcedureBuilder::kNowhere ? 0 : static_cast<int32_t>(label + 1);
}

void check_operands(const format::Instruction& instruction) {
  const bool row_a = instruction.code == Code::kText || instruction.code == Code::kCopy ||
                     instruction.code == Code::kGetByText;
  KEYDROME_CHECK(instruction.a < (row_a ? format::kRows : format::kRegisters));
  const bool row_b = instruction.code == Code::kGet || instruction.code == Code::kGetByText ||
                     instruction.code == Code::kInsert || instruction.code == Code::kCopy ||
                     instruction.code == Code::kLoad || instruction.code == Code::kStore;
  KEYDROME_CHECK(instruction.b < (row_b ? format::kRows : format::kRegisters));
  KEYDROME_CHECK(instruction.c < format::kRegisters);
  // A numeric field has at most kDigitsMax digits. Only kCopy copies text, so its field may be
  // wider.
  KEYDROME_CHECK(instruction.code == Code::kCopy || instruction.field.width <= format::kDigitsMax);
}

}  // namespace

ProcedureBuilder::Label ProcedureBuilder::label() {
  places_.push_back(kNotPlaced);
  return static_cast<Label>(places_.size() - 1);
}

void ProcedureBuilder::place(Label label) {
  KEYDROME_CHECK(places_.at(label) == kNotPlaced);
  places_[label] = static_cast<uint32_t>(code_.size());
}

void ProcedureBuilder::append(const format::Instruction& instruction) {
  check_operands(instruction);
  code_.push_back(instruction);
}

void ProcedureBuilder::get(uint8_t slot, uint8_t key, uint8_t row, Label missing) {
  append({.code = Code::kGet, .a = key, .b = row, .c = slot, .n = label_number(missing)});
}

void ProcedureBuilder::get_by_text(uint8_t slot, uint8_t key_row, uint8_t row, Label missing) {
  append({.code = Code::kGetByText, .a = key_row, .b = row, .c = slot, .n = label_number(missing)});
}

void ProcedureBuilder::scan(uint8_t slot, uint8_t from, uint8_t end, format::Field field,
                            uint8_t limit) {
  append({.code = Code::kScan, .a = from, .b = end, .c = slot, .field = field, .limit = limit});
}

void ProcedureBuilder::insert(uint8_t slot, uint8_t key, uint8_t row) {
  append({.code = Code::kInsert, .a = key, .b = row, .c = slot});
}

void ProcedureBuilder::remove(uint8_t slot, uint8_t key) {
  append({.code = Code::kDelete, .a = key, .c = slot});
}

void ProcedureBuilder::replace(uint8_t slot, uint8_t key, uint8_t row) {
  remove(slot, key);
  insert(slot, key, row);
}

void ProcedureBuilder::parameter(uint8_t to) { append({.code = Code::kParameter, .a = to}); }

void ProcedureBuilder::set(uint8_t to, int32_t number) {
  append({.code = Code::kSet, .a = to, .n = number});
}

void ProcedureBuilder::add(uint8_t to, uint8_t a, uint8_t b) {
  append({.code = Code::kAdd, .a = to, .b = a, .c = b});
}

void ProcedureBuilder::subtract(uint8_t to, uint8_t a, uint8_t b) {
  append({.code = Code::kSubtract, .a = to, .b = a, .c = b});
}

void ProcedureBuilder::multiply(uint8_t to, uint8_t a, uint8_t b) {
  append({.code = Code::kMultiply, .a = to, .b = a, .c = b});
}

void ProcedureBuilder::divide(uint8_t to, uint8_t a, int32_t by) {
  KEYDROME_CHECK(by > 0);
  append({.code = Code::kDivide, .a = to, .b = a, .n = by});
}

void ProcedureBuilder::shift(uint8_t to, uint8_t a, int32_t bits) {
  KEYDROME_CHECK(bits >= 0 && bits < 64);
  append({.code = Code::kShift, .a = to, .b = a, .n = bits});
}

void ProcedureBuilder::text(uint8_t row, uint8_t number) {
  append({.code = Code::kText, .a = row, .b = number});
}

void ProcedureBuilder::copy(uint8_t row, uint8_t at, uint8_t width, uint8_t from_row,
                            uint8_t from_at) {
  append({.code = Code::kCopy,
          .a = row,
          .b = from_row,
          .c = from_at,
          .field = {.at = at, .width = width}});
}

void ProcedureBuilder::load(uint8_t to, uint8_t row, format::Field field) {
  append({.code = Code::kLoad, .a = to, .b = row, .field = field});
}

void ProcedureBuilder::store(uint8_t row, format::Field field, uint8_t from) {
  append({.code = Code::kStore, .a = from, .b = row, .field = field});
}

void ProcedureBuilder::count(uint8_t to) { append({.code = Code::kCount, .a = to}); }

void ProcedureBuilder::element(uint8_t to, uint8_t number) {
  append({.code = Code::kElement, .a = to, .b = number});
}

void ProcedureBuilder::sort() { append({.code = Code::kSort}); }

void ProcedureBuilder::jump(Label to) { append({.code = Code::kJump, .n = label_number(to)}); }

void ProcedureBuilder::jump_if_less(uint8_t a, uint8_t b, Label to) {
  append({.code = Code::kJumpLess, .a = a, .b = b, .n = label_number(to)});
}

void ProcedureBuilder::jump_if_equal(uint8_t a, uint8_t b, Label to) {
  append({.code = Code::kJumpEqual, .a = a, .b = b, .n = label_number(to)});
}

void ProcedureBuilder::result(uint8_t from) { append({.code = Code::kResult, .a = from}); }
void ProcedureBuilder::unfit() { append({.code = Code::kUnfit}); }
void ProcedureBuilder::roll_back() { append({.code = Code::kRollBack}); }
void ProcedureBuilder::end() { append({.code = Code::kEnd}); }

std::vector<format::Instruction> ProcedureBuilder::build() const {
  KEYDROME_CHECK(!code_.empty() && code_.back().code == Code::kEnd);
  std::vector<format::Instruction> code = code_;
  for (format::Instruction& instruction : code) {
    if (!has_label(instruction)) continue;
    const uint32_t place = places_.at(static_cast<std::size_t>(instruction.n - 1));
    // A jump to the first instruction is impossible, because n == 0 means kNowhere.
    KEYDROME_CHECK(place != kNotPlaced && place > 0 && place < code.size());
    instruction.n = static_cast<int32_t>(place);
  }
  return code;
}

}  // namespace keydrome::script
