#include "benchmarks/kit/standing.h"

#include <array>
#include <cstdio>

#include "benchmarks/kit/judge.h"

namespace keydrome {
namespace {

constexpr std::size_t kQuotedMax = 40;

// Our own names and keys, but any bytes may be in them.
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
  return text + "\"";
}

std::string key_text(const Script& script, uint32_t index, uint32_t key) {
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

constexpr bool is_scan(OpCode code) { return code == OpCode::kNext || code == OpCode::kNextToEnd; }

constexpr bool waits_for_threads(OpCode code) {
  return code == OpCode::kWait || code == OpCode::kYield || code == OpCode::kStep ||
         code == OpCode::kArrive || code == OpCode::kSignal || code == OpCode::kStepDone ||
         code == OpCode::kMark || code == OpCode::kRepeat;
}

// Follows a program op by op: which index each slot has, and what the open transaction touches.
class Walker {
 public:
  explicit Walker(const Script& script) : script_(script) {}

  void pass(const Op& op, uint64_t at) {
    if (op.code == OpCode::kOpen) slots_[op.slot] = op.argument;
    if (op.code == OpCode::kBegin) {
      standing_.begin = at;
      standing_.touched.clear();
    }
    if (op.code == OpCode::kCommit || op.code == OpCode::kAbort) standing_.begin.reset();
    if (!standing_.begin || (op.flags & kAutoCommit) != 0) return;
    if (std::optional<Touch> touch = touch_of(op, at)) standing_.touched.push_back(*touch);
  }

  Standing stand(const Op& op, uint64_t at, bool taking_back) {
    standing_.op = at;
    standing_.taking_back = taking_back;
    standing_.in_call = !waits_for_threads(op.code);
    standing_.call = op_text(op) + arguments(op);
    std::optional<Touch> touch = touch_of(op, at);
    if (!taking_back) {
      standing_.wants = std::move(touch);
    } else if (touch && standing_.begin) {
      standing_.touched.push_back(*touch);
    }
    if (!standing_.begin) standing_.touched.clear();
    return std::move(standing_);
  }

 private:
  std::optional<Touch> touch_of(const Op& op, uint64_t at) const {
    const std::optional<uint32_t> index = slots_[op.slot];
    if (!index) return std::nullopt;
    if (is_scan(op.code)) return Touch{.op = at, .index = *index, .key = {}, .writes = false};
    if (op.code == OpCode::kDeleteRead) {
      return Touch{.op = at, .index = *index, .key = {}, .writes = true};
    }
    if (!is_data_call(op.code)) return std::nullopt;
    return Touch{.op = at,
                 .index = *index,
                 .key = key_text(script_, *index, op.key),
                 .writes = op.code != OpCode::kGet};
  }

  std::string arguments(const Op& op) const {
    if (op.code == OpCode::kCreate || op.code == OpCode::kOpen) {
      return "(" + quoted(script_.indexes[op.argument].name) + ")";
    }
    const std::optional<uint32_t> index = slots_[op.slot];
    const bool named = index && (is_scan(op.code) || is_data_call(op.code) ||
                                 op.code == OpCode::kClose || op.code == OpCode::kDeleteRead);
    if (!named) return "()";
    const std::string key =
        is_data_call(op.code) ? ", " + key_text(script_, *index, op.key) : std::string();
    return "(" + quoted(script_.indexes[*index].name) + key + ")";
  }

  const Script& script_;
  std::array<std::optional<uint32_t>, kSlots> slots_;
  Standing standing_;
};

}  // namespace

Standing standing_of(const Script& script, const std::vector<Op>& ops, uint64_t progress) {
  const uint64_t op = progress & ~kTakingBack;
  if (op >= ops.size()) return {.op = op, .finished = true, .call = {}};
  Walker walker(script);
  for (uint64_t at = 0; at < op; ++at) walker.pass(ops[at], at);
  return walker.stand(ops[op], op, (progress & kTakingBack) != 0);
}

bool in_the_way(const Touch& wants, const Touch& touched, bool exactly) {
  if (wants.index != touched.index || !(wants.writes || touched.writes)) return false;
  return !exactly || (!wants.key.empty() && wants.key == touched.key);
}

std::string touch_text(const Script& script, const Touch& touch) {
  return (touch.key.empty() ? "records" : "key " + touch.key) + " of " +
         quoted(script.indexes[touch.index].name);
}

}  // namespace keydrome
