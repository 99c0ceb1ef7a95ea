// Implements ExpectedState: collects all writes of the programs, and derives from their order what
// a read can return.
#include "benchmarks/kit/judge/expected_state.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/evidence.h"

namespace keydrome::judge {
namespace {

using Effect = Change::Effect;
using What = Change::What;

// Returns whether other transactions can see the writes of a transaction that ended this way.
Effect effect_of(format::TransactionEnd end) {
  switch (end) {
    case format::TransactionEnd::kCommitted:
      return Effect::kYes;
    case format::TransactionEnd::kFailed:
      return Effect::kMaybe;
    default:
      return Effect::kNo;
  }
}

// Returns true if `a` certainly ended before `b` began: in an earlier phase, or earlier in the same
// program.
bool before(const Moment& a, const Moment& b) {
  return a.phase < b.phase || (a.phase == b.phase && a.thread == b.thread && a.op < b.op);
}

bool same_transaction(const Moment& a, const Moment& b) {
  return a.phase == b.phase && a.thread == b.thread && a.transaction == b.transaction;
}

bool same_op(const Moment& a, const Moment& b) {
  return a.phase == b.phase && a.thread == b.thread && a.op == b.op;
}

// Returns true if the change deletes the record of the insert. REQUIRES: both have the same key.
bool deletes(const Change& change, const Change& insert) {
  return change.what == What::kDeleteKey ||
         (change.what == What::kDeletePair && change.tag == insert.tag);
}

}  // namespace

ExpectedState::ExpectedState(const script::Script& script, const KeyRanks& ranks,
                             const script::Outcome& outcome)
    : script_(&script),
      ranks_(&ranks),
      deletes_unknown_(script.indexes.size()),
      computed_(script.indexes.size()) {
  for (uint32_t phase = 0; phase < outcome.phases.size(); ++phase) {
    const auto threads = static_cast<uint32_t>(script.phases[phase].threads.size());
    for (uint32_t thread = 0; thread < threads; ++thread) add_thread(outcome, phase, thread);
  }
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
    return std::tie(a.index, a.rank, a.moment.phase, a.moment.thread, a.moment.op) <
           std::tie(b.index, b.rank, b.moment.phase, b.moment.thread, b.moment.op);
  });
  std::sort(runs_.begin(), runs_.end(),
            [](const Run& a, const Run& b) { return a.first_tag < b.first_tag; });
}

void ExpectedState::add_thread(const script::Outcome& outcome, uint32_t phase, uint32_t thread) {
  const std::vector<format::Op>& ops = script_->phases[phase].threads[thread];
  const script::ThreadResult& result = outcome.phases[phase].threads[thread];
  std::array<uint32_t, format::kSlots> slots{};
  format::walk_program(ops, [&](const format::Step& step) {
    const format::Op& op = ops[step.op];
    if (op.code == format::OpCode::kOpen) slots[op.slot] = op.argument;
    if (op.code == format::OpCode::kDeleteRead) deletes_unknown_[slots[op.slot]] = true;
    if (op.code == format::OpCode::kRun) {
      add_run(op, slots, {phase, thread, step.op, step.transaction},
              effect_of(result.ends[step.transaction]));
    }
    if (op.code < format::OpCode::kInsert || op.code > format::OpCode::kDeletePair) return;
    const uint32_t index = slots[op.slot];
    Change change{.index = index,
                  .rank = ranks_->rank(script_->indexes[index].type, op.key),
                  .tag = op.argument,
                  .text = op.payload,
                  .moment = {phase, thread, step.op, step.transaction},
                  .what = op.code == format::OpCode::kInsert      ? What::kInsert
                          : op.code == format::OpCode::kDeleteKey ? What::kDeleteKey
                                                                  : What::kDeletePair,
                  .effect = effect_of(result.ends[step.transaction])};
    changes_.push_back(change);
  });
}

void ExpectedState::add_run(const format::Op& op, const std::array<uint32_t, format::kSlots>& slots,
                            const Moment& moment, Effect effect) {
  const script::Pools& pools = script_->pools;
  const format::ProcedureEntry& entry = pools.procedures[op.payload];
  if (entry.tags > 0) {
    runs_.push_back(
        {.first_tag = op.argument, .tags = entry.tags, .moment = moment, .effect = effect});
  }
  for (uint32_t i = entry.first; i < entry.first + entry.count; ++i) {
    const format::Instruction& instruction = pools.instructions[i];
    if (!format::is_write(instruction.code)) continue;  // c is a slot only in calls
    const uint32_t index = slots[instruction.c];
    if (instruction.code == format::InstructionCode::kInsert) computed_[index] = true;
    if (instruction.code == format::InstructionCode::kDelete) deletes_unknown_[index] = true;
  }
}

std::optional<std::string> ExpectedState::why_not_computed(std::string_view payload,
                                                           const Moment& reader) const {
  const std::optional<uint32_t> tag = format::read_tag(payload);
  if (!tag) return "the payload does not begin with a tag, so no transaction wrote it";
  auto run = std::upper_bound(runs_.begin(), runs_.end(), *tag,
                              [](uint32_t number, const Run& a) { return number < a.first_tag; });
  if (run == runs_.begin() || *tag - (run - 1)->first_tag >= (run - 1)->tags) {
    return "no transaction wrote this payload under this key";
  }
  --run;
  if (run->effect == Effect::kNo && !same_transaction(run->moment, reader)) {
    return "its transaction was aborted (" + describe(run->moment) + ")";
  }
  if (before(reader, run->moment))
    return "it was written only later (" + describe(run->moment) + ")";
  return std::nullopt;
}

std::span<const Change> ExpectedState::changes(uint32_t index, uint64_t from, uint64_t to) const {
  const auto less = [](const Change& change, const std::pair<uint32_t, uint64_t>& key) {
    return change.index != key.first ? change.index < key.first : change.rank < key.second;
  };
  const auto first =
      std::lower_bound(changes_.begin(), changes_.end(), std::pair(index, from), less);
  const auto last = std::lower_bound(first, changes_.end(), std::pair(index, to), less);
  return {first, last};
}

bool ExpectedState::must_see(const Change& insert, const Moment& reader) const {
  if (deletes_unknown_[insert.index] || !before(insert.moment, reader)) return false;
  if (insert.effect != Effect::kYes && !same_transaction(insert.moment, reader)) return false;
  for (const Change& change : changes(insert.index, insert.rank)) {
    if (!deletes(change, insert) || same_op(change.moment, reader)) continue;
    const bool own = same_transaction(change.moment, reader);
    if (change.effect == Effect::kNo && !own) continue;
    if (!before(change.moment, insert.moment) && !before(reader, change.moment)) return false;
  }
  return true;
}

std::optional<std::string> ExpectedState::why_wrong_delete(const Change& change, bool found) const {
  bool possible = false;
  for (const Change& insert : changes(change.index, change.rank)) {
    if (insert.what != What::kInsert || !deletes(change, insert)) continue;
    if (!found && must_see(insert, change.moment)) {
      return "the record that " + describe(insert.moment) +
             " inserted must still be stored, because no other transaction deleted it";
    }
    possible = possible || !why_invisible(insert, change.moment);
  }
  if (found && !possible) return "no such record can have been stored";
  return std::nullopt;
}

std::optional<std::string> ExpectedState::why_wrong_insert(const Change& change,
                                                           bool existed) const {
  bool possible = false;
  for (const Change& insert : changes(change.index, change.rank)) {
    const bool same_pair =
        insert.what == What::kInsert && insert.tag == change.tag && insert.text == change.text;
    if (!same_pair || same_op(insert.moment, change.moment)) continue;
    if (!existed && must_see(insert, change.moment)) {
      return "the pair that " + describe(insert.moment) +
             " inserted must still be stored, because no transaction deleted it";
    }
    possible = possible || !why_invisible(insert, change.moment);
  }
  if (existed && !possible) return "this pair cannot have been stored";
  return std::nullopt;
}

// Returns why the reader cannot see the record of this insert, or nothing if the reader can see it.
std::optional<std::string> ExpectedState::why_invisible(const Change& insert,
                                                        const Moment& reader) const {
  const bool own = same_transaction(insert.moment, reader);
  if (!own && insert.effect == Effect::kNo) {
    return "its transaction was aborted (" + describe(insert.moment) + ")";
  }
  if (before(reader, insert.moment)) {
    return "it was written only later (" + describe(insert.moment) + ")";
  }
  for (const Change& change : changes(insert.index, insert.rank)) {
    const bool done = change.effect == Effect::kYes || same_transaction(change.moment, reader);
    if (done && deletes(change, insert) && before(insert.moment, change.moment) &&
        before(change.moment, reader)) {
      return "it had been deleted (" + describe(change.moment) + ")";
    }
  }
  return std::nullopt;
}

std::optional<std::string> ExpectedState::why_impossible(uint32_t index, uint32_t rank,
                                                         std::string_view payload,
                                                         const Moment& reader) const {
  const std::optional<uint32_t> tag = format::read_tag(payload);
  if (!tag) return "the payload does not begin with a tag, so no transaction wrote it";
  std::optional<std::string> reason = "no transaction wrote this payload under this key";
  if (computed_[index]) reason = why_not_computed(payload, reader);
  if (!reason) return std::nullopt;
  for (const Change& change : changes(index, rank)) {
    if (change.what != What::kInsert || change.tag != *tag) continue;
    if (payload.substr(format::kTagBytes) != script_->pools.payloads[change.text]) {
      reason = "its text differs from the text that was written";
      continue;
    }
    reason = why_invisible(change, reader);
    if (!reason) return std::nullopt;
  }
  return reason;
}

std::string ExpectedState::describe(const Moment& moment) const {
  return "thread " + std::to_string(moment.thread) + ", transaction " +
         std::to_string(moment.transaction) + " of phase " + script_->phases[moment.phase].name;
}

}  // namespace keydrome::judge
