#include "benchmarks/kit/ledger.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "benchmarks/kit/evidence.h"
#include "benchmarks/kit/payload_tag.h"

namespace keydrome {
namespace {

using Effect = Change::Effect;
using What = Change::What;

Effect effect_of(TransactionEnd end) {
  switch (end) {
    case TransactionEnd::kCommitted:
      return Effect::kYes;
    case TransactionEnd::kFailed:
      return Effect::kMaybe;
    default:
      return Effect::kNo;
  }
}

// Whether `a` was over when `b` began, or stands earlier in the same program.
bool before(const Moment& a, const Moment& b) {
  return a.phase < b.phase || (a.phase == b.phase && a.thread == b.thread && a.op < b.op);
}

bool same_transaction(const Moment& a, const Moment& b) {
  return a.phase == b.phase && a.thread == b.thread && a.transaction == b.transaction;
}

bool same_op(const Moment& a, const Moment& b) {
  return a.phase == b.phase && a.thread == b.thread && a.op == b.op;
}

bool deletes(const Change& change, const Change& insert) {
  return change.what == What::kDeleteKey ||
         (change.what == What::kDeletePair && change.tag == insert.tag);
}

}  // namespace

Ledger::Ledger(const Script& script, const KeyRanks& ranks, const Outcome& outcome)
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

void Ledger::add_thread(const Outcome& outcome, uint32_t phase, uint32_t thread) {
  const std::vector<Op>& ops = script_->phases[phase].threads[thread];
  const ThreadResult& result = outcome.phases[phase].threads[thread];
  std::array<uint32_t, kSlots> slots{};
  walk_program(ops, [&](const Step& step) {
    const Op& op = ops[step.op];
    if (op.code == OpCode::kOpen) slots[op.slot] = op.argument;
    if (op.code == OpCode::kDeleteRead) deletes_unknown_[slots[op.slot]] = true;
    if (op.code == OpCode::kRun) {
      add_run(op, slots, {phase, thread, step.op, step.transaction},
              effect_of(result.ends[step.transaction]));
    }
    if (op.code < OpCode::kInsert || op.code > OpCode::kDeletePair) return;
    const uint32_t index = slots[op.slot];
    Change change{.index = index,
                  .rank = ranks_->rank(script_->indexes[index].type, op.key),
                  .tag = op.argument,
                  .text = op.payload,
                  .moment = {phase, thread, step.op, step.transaction},
                  .what = op.code == OpCode::kInsert      ? What::kInsert
                          : op.code == OpCode::kDeleteKey ? What::kDeleteKey
                                                          : What::kDeletePair,
                  .effect = effect_of(result.ends[step.transaction])};
    changes_.push_back(change);
  });
}

void Ledger::add_run(const Op& op, const std::array<uint32_t, kSlots>& slots, const Moment& moment,
                     Effect effect) {
  const Pools& pools = script_->pools;
  const ProcedureEntry& entry = pools.procedures[op.payload];
  if (entry.tags > 0) {
    runs_.push_back(
        {.first_tag = op.argument, .tags = entry.tags, .moment = moment, .effect = effect});
  }
  for (uint32_t i = entry.first; i < entry.first + entry.count; ++i) {
    const Instruction& instruction = pools.instructions[i];
    if (!is_write(instruction.code)) continue;  // only calls name a slot
    const uint32_t index = slots[instruction.c];
    if (instruction.code == InstructionCode::kInsert) computed_[index] = true;
    if (instruction.code == InstructionCode::kDelete) deletes_unknown_[index] = true;
  }
}

std::optional<std::string> Ledger::why_not_computed(std::string_view payload,
                                                    const Moment& reader) const {
  const std::optional<uint32_t> tag = read_tag(payload);
  if (!tag) return "nobody wrote such a payload";
  auto run = std::upper_bound(runs_.begin(), runs_.end(), *tag,
                              [](uint32_t number, const Run& a) { return number < a.first_tag; });
  if (run == runs_.begin() || *tag - (run - 1)->first_tag >= (run - 1)->tags) {
    return "nobody wrote that payload under that key";
  }
  --run;
  if (run->effect == Effect::kNo && !same_transaction(run->moment, reader)) {
    return "its transaction was aborted (" + describe(run->moment) + ")";
  }
  if (before(reader, run->moment))
    return "it is written only later (" + describe(run->moment) + ")";
  return std::nullopt;
}

std::span<const Change> Ledger::changes(uint32_t index, uint64_t from, uint64_t to) const {
  const auto less = [](const Change& change, const std::pair<uint32_t, uint64_t>& key) {
    return change.index != key.first ? change.index < key.first : change.rank < key.second;
  };
  const auto first =
      std::lower_bound(changes_.begin(), changes_.end(), std::pair(index, from), less);
  const auto last = std::lower_bound(first, changes_.end(), std::pair(index, to), less);
  return {first, last};
}

bool Ledger::must_see(const Change& insert, const Moment& reader) const {
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

std::optional<std::string> Ledger::why_wrong_delete(const Change& change, bool found) const {
  bool possible = false;
  for (const Change& insert : changes(change.index, change.rank)) {
    if (insert.what != What::kInsert || !deletes(change, insert)) continue;
    if (!found && must_see(insert, change.moment)) {
      return "the record that " + describe(insert.moment) +
             " inserted and nobody else deleted was there";
    }
    possible = possible || !why_invisible(insert, change.moment);
  }
  if (found && !possible) return "nothing can have been there";
  return std::nullopt;
}

std::optional<std::string> Ledger::why_wrong_insert(const Change& change, bool existed) const {
  bool possible = false;
  for (const Change& insert : changes(change.index, change.rank)) {
    const bool same_pair =
        insert.what == What::kInsert && insert.tag == change.tag && insert.text == change.text;
    if (!same_pair || same_op(insert.moment, change.moment)) continue;
    if (!existed && must_see(insert, change.moment)) {
      return "the pair that " + describe(insert.moment) +
             " inserted and nobody deleted was there already";
    }
    possible = possible || !why_invisible(insert, change.moment);
  }
  if (existed && !possible) return "that pair cannot have been there";
  return std::nullopt;
}

// Why the reader cannot see what that insert wrote.
std::optional<std::string> Ledger::why_invisible(const Change& insert, const Moment& reader) const {
  const bool own = same_transaction(insert.moment, reader);
  if (!own && insert.effect == Effect::kNo) {
    return "its transaction was aborted (" + describe(insert.moment) + ")";
  }
  if (before(reader, insert.moment)) {
    return "it is written only later (" + describe(insert.moment) + ")";
  }
  for (const Change& change : changes(insert.index, insert.rank)) {
    const bool done = change.effect == Effect::kYes || same_transaction(change.moment, reader);
    if (done && deletes(change, insert) && before(insert.moment, change.moment) &&
        before(change.moment, reader)) {
      return "it was deleted before (" + describe(change.moment) + ")";
    }
  }
  return std::nullopt;
}

std::optional<std::string> Ledger::why_impossible(uint32_t index, uint32_t rank,
                                                  std::string_view payload,
                                                  const Moment& reader) const {
  const std::optional<uint32_t> tag = read_tag(payload);
  if (!tag) return "nobody wrote such a payload";
  std::optional<std::string> reason = "nobody wrote that payload under that key";
  if (computed_[index]) reason = why_not_computed(payload, reader);
  if (!reason) return std::nullopt;
  for (const Change& change : changes(index, rank)) {
    if (change.what != What::kInsert || change.tag != *tag) continue;
    if (payload.substr(kTagBytes) != script_->pools.payloads[change.text]) {
      reason = "the payload was changed";
      continue;
    }
    reason = why_invisible(change, reader);
    if (!reason) return std::nullopt;
  }
  return reason;
}

std::string Ledger::describe(const Moment& moment) const {
  return "thread " + std::to_string(moment.thread) + ", transaction " +
         std::to_string(moment.transaction) + " of phase " + script_->phases[moment.phase].name;
}

}  // namespace keydrome
