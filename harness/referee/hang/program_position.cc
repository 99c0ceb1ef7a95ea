// Implements program_position(): steps through a thread's operations up to the current one, and
// notes what the open transaction has touched.
#include "harness/referee/hang/program_position.h"

#include <array>
#include <cstdio>

#include "benchmarks/kit/judge/judge.h"

namespace keydrome {
namespace {

constexpr std::size_t kQuotedMax = 40;  // a longer name or key is shortened to this many bytes

// Quotes a name or key, and shortens a long one, whose length then follows. Quotes, backslashes and
// unprintable bytes become \xNN.
std::string quoted(std::string_view bytes) {
  std::string text = "\"";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes.size() > kQuotedMax && i == kQuotedMax / 2) {
      text += "...";
      i = bytes.size() - kQuotedMax / 2;
    }
    const auto byte = static_cast<unsigned char>(bytes[i]);
    std::array<char, 5> hexadecimal{};
    std::snprintf(hexadecimal.data(), hexadecimal.size(), "\\x%02x", byte);
    const bool printable = byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
    text += printable ? std::string(1, bytes[i]) : std::string(hexadecimal.data());
  }
  text += '"';
  if (bytes.size() > kQuotedMax) text += " (" + std::to_string(bytes.size()) + " bytes)";
  return text;
}

std::string key_text(const script::Script& script, uint32_t index, uint32_t key) {
  switch (script.indexes[index].type) {
    case SHORT:
      return std::to_string(script.pools.int32_keys[key]);
    case INT:
      return std::to_string(script.pools.int64_keys[key]);
    case VARCHAR:
      break;
  }
  return quoted(script.pools.varchar_keys[key]);
}

constexpr bool waits_for_threads(format::OpCode code) {
  return code == format::OpCode::kWait || code == format::OpCode::kYield ||
         code == format::OpCode::kStep || code == format::OpCode::kArrive ||
         code == format::OpCode::kSignal || code == format::OpCode::kStepDone ||
         code == format::OpCode::kRepeat || code == format::OpCode::kUntil;
}

// Steps through a program (a thread's list of operations), operation by operation. A handle slot is
// a variable of the program that stores the handle of an open index. Tracks which index each slot
// refers to, and which records the open transaction has touched.
class Walker {
 public:
  explicit Walker(const script::Script& script) : script_(script) {}

  void pass(const format::Op& op, uint64_t at) {
    if (op.code == format::OpCode::kOpen) slots_[op.slot] = op.argument;
    if (op.code == format::OpCode::kBegin) {
      position_.begin = at;
      position_.touched.clear();
    }
    if (op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort)
      position_.begin.reset();
    if (!position_.begin || (op.flags & format::kAutoCommit) != 0) return;
    if (std::optional<Touch> touch = touch_of(op, at)) position_.touched.push_back(*touch);
  }

  // Returns the position at `op`, the next operation. A call of this function must be the last call
  // on the object.
  ProgramPosition stop_at(const format::Op& op, uint64_t at, bool rolling_back) {
    position_.op = at;
    position_.rolling_back = rolling_back;
    position_.in_call = !waits_for_threads(op.code);
    // A procedure makes several calls, and no position shows which of them runs.
    position_.call = op.code == format::OpCode::kRun ? "an unrecorded call of the transaction"
                                                     : judge::op_text(op) + arguments(op);
    std::optional<Touch> touch = touch_of(op, at);
    if (!rolling_back) {
      position_.wants = std::move(touch);
    } else if (touch && position_.begin) {
      position_.touched.push_back(*touch);
    }
    if (!position_.begin) position_.touched.clear();
    return std::move(position_);
  }

 private:
  std::optional<Touch> touch_of(const format::Op& op, uint64_t at) const {
    const std::optional<uint32_t> index = slots_[op.slot];
    if (!index) return std::nullopt;
    if (format::is_scan(op.code))
      return Touch{.op = at, .index = *index, .key = {}, .writes = false};
    if (op.code == format::OpCode::kDeleteRead) {
      return Touch{.op = at, .index = *index, .key = {}, .writes = true};
    }
    if (!format::is_data_call(op.code)) return std::nullopt;
    return Touch{.op = at,
                 .index = *index,
                 .key = key_text(script_, *index, op.key),
                 .writes = op.code != format::OpCode::kGet};
  }

  std::string arguments(const format::Op& op) const {
    if (op.code == format::OpCode::kCreate || op.code == format::OpCode::kOpen) {
      return "(" + quoted(script_.indexes[op.argument].name) + ")";
    }
    const std::optional<uint32_t> index = slots_[op.slot];
    const bool named =
        index && (format::is_scan(op.code) || format::is_data_call(op.code) ||
                  op.code == format::OpCode::kClose || op.code == format::OpCode::kDeleteRead);
    if (!named) return "()";
    const std::string key =
        format::is_data_call(op.code) ? ", " + key_text(script_, *index, op.key) : std::string();
    return "(" + quoted(script_.indexes[*index].name) + key + ")";
  }

  const script::Script& script_;
  std::array<std::optional<uint32_t>, format::kSlots> slots_;
  ProgramPosition position_;
};

}  // namespace

ProgramPosition program_position(const script::Script& script, const std::vector<format::Op>& ops,
                                 uint64_t reached) {
  const uint64_t op = reached & ~format::kPositionBits;
  if (op >= ops.size()) return {.op = op, .finished = true, .call = {}};
  Walker walker(script);
  for (uint64_t at = 0; at < op; ++at) walker.pass(ops[at], at);
  ProgramPosition position = walker.stop_at(ops[op], op, (reached & format::kRollingBack) != 0);
  if ((reached & format::kAwaitsPiece) == 0) return position;
  position.awaits_piece = true;
  position.in_call = false;
  position.wants.reset();
  return position;
}

bool may_block(const Touch& wants, const Touch& touched, bool exactly) {
  if (wants.index != touched.index || !(wants.writes || touched.writes)) return false;
  return !exactly || (!wants.key.empty() && wants.key == touched.key);
}

std::string touch_text(const script::Script& script, const Touch& touch) {
  return (touch.key.empty() ? "records" : "key " + touch.key) + " of " +
         quoted(script.indexes[touch.index].name);
}

}  // namespace keydrome
