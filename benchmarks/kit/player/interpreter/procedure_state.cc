// Implements ProcedureState: executes the instructions of a procedure (a transaction that computes
// its keys and payloads) that make no call to the library.
#include "benchmarks/kit/player/interpreter/procedure_state.h"

#include <algorithm>
#include <optional>

#include "benchmarks/kit/format/piece.h"

namespace keydrome::player {
namespace {

// Returns the signed number with these bits. The arithmetic of procedures is unsigned, because
// numbers from a faulty library may have any value. Unsigned numbers wrap, but signed overflow
// would be undefined behaviour.
int64_t wrapped(uint64_t number) { return static_cast<int64_t>(number); }

}  // namespace

void ProcedureState::set_row(uint8_t row, std::string_view payload) {
  payload.remove_prefix(std::min<std::size_t>(format::kTagBytes, payload.size()));
  rows_[row].size = static_cast<uint32_t>(std::min<std::size_t>(kTextBytesMax, payload.size()));
  std::memcpy(rows_[row].text, payload.data(), rows_[row].size);
}

bool ProcedureState::append(std::string_view payload, format::Field field) {
  payload.remove_prefix(std::min<std::size_t>(format::kTagBytes, payload.size()));
  const std::optional<int64_t> number = format::read_number(payload, field);
  if (!number || count_ == format::kListMax) return false;
  list_[count_++] = *number;
  return true;
}

// Searches backwards, because a procedure usually uses the parameters that it has just read.
std::optional<std::string_view> ProcedureState::string_key(int64_t number) const {
  for (uint32_t i = next_parameter_; i-- > first_parameter_;) {
    if (pools_->parameters[i] != number) continue;
    if (i < pools_->parameter_strings.size() && pools_->parameter_strings[i] != format::kNoString)
      return pools_->varchar_keys[pools_->parameter_strings[i]];
  }
  if (number < 0 || static_cast<uint64_t>(number) >= pools_->computed_keys.size())
    return std::nullopt;
  return pools_->computed_keys[static_cast<uint32_t>(number)];
}

bool ProcedureState::compute(const format::Instruction& instruction) {
  int64_t& a = registers_[instruction.a];
  switch (instruction.code) {
    case format::InstructionCode::kParameter:
      a = pools_->parameters[next_parameter_++];
      return true;
    case format::InstructionCode::kText:
      // A text has at most kTextBytesMax bytes, because PoolsView::open() checks the length.
      rows_[instruction.a].size = static_cast<uint32_t>(
          pools_->payloads[static_cast<uint32_t>(registers_[instruction.b])].copy(
              rows_[instruction.a].text, kTextBytesMax));
      return true;
    case format::InstructionCode::kCopy:
      return copy(instruction);
    case format::InstructionCode::kLoad: {
      const std::optional<int64_t> number =
          format::read_number(text(instruction.b), instruction.field);
      a = number.value_or(0);
      return number.has_value();
    }
    case format::InstructionCode::kStore:
      return store(instruction);
    case format::InstructionCode::kCount:
      a = count_;
      return true;
    case format::InstructionCode::kElement: {
      const auto number = static_cast<uint64_t>(registers_[instruction.b]);
      if (number >= count_) return false;
      a = list_[number];
      return true;
    }
    case format::InstructionCode::kSort:
      sort();
      return true;
    default:
      return arithmetic(instruction);
  }
}

bool ProcedureState::arithmetic(const format::Instruction& instruction) {
  int64_t& a = registers_[instruction.a];
  const auto b = static_cast<uint64_t>(registers_[instruction.b]);
  const auto c = static_cast<uint64_t>(registers_[instruction.c]);
  switch (instruction.code) {
    case format::InstructionCode::kSet:
      a = instruction.n;
      return true;
    case format::InstructionCode::kAdd:
      a = wrapped(b + c);
      return true;
    case format::InstructionCode::kSubtract:
      a = wrapped(b - c);
      return true;
    case format::InstructionCode::kMultiply:
      a = wrapped(b * c);
      return true;
    case format::InstructionCode::kDivide:
      a = wrapped(b) / instruction.n;
      return true;
    case format::InstructionCode::kShift:
      a = wrapped(b << instruction.n);
      return true;
    case format::InstructionCode::kResult:
      result_ = a;
      return true;
    case format::InstructionCode::kJump:
      jump(instruction.n);
      return true;
    case format::InstructionCode::kJumpLess:
      if (a < registers_[instruction.b]) jump(instruction.n);
      return true;
    case format::InstructionCode::kJumpEqual:
      if (a == registers_[instruction.b]) jump(instruction.n);
      return true;
    default:
      return false;
  }
}

bool ProcedureState::copy(const format::Instruction& instruction) {
  Row& to = rows_[instruction.a];
  const Row& from = rows_[instruction.b];
  const auto at = static_cast<uint64_t>(registers_[instruction.c]);
  const uint32_t width = instruction.field.width;
  if (at > from.size || width > from.size - at) return false;
  if (uint32_t{instruction.field.at} + width > to.size) return false;
  std::memmove(to.text + instruction.field.at, from.text + at, width);
  return true;
}

bool ProcedureState::store(const format::Instruction& instruction) {
  Row& row = rows_[instruction.b];
  const format::Field field = instruction.field;
  const int64_t number = registers_[instruction.a];
  if (uint32_t{field.at} + field.width > row.size || !field.holds(number)) return false;
  format::write_number(row.text, field, number);
  return true;
}

void ProcedureState::sort() {
  const auto end = list_.begin() + count_;
  std::sort(list_.begin(), end);
  count_ = static_cast<uint32_t>(std::unique(list_.begin(), end) - list_.begin());
}

}  // namespace keydrome::player
