// Implements the construction of ExpectedState, the records that reads may and must find: collects
// all writes of the programs (lists of operations, called ops), and sorts them by key.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/judge/expected_state.h"
#include "benchmarks/kit/judge/keys/sort_notes.h"

namespace keydrome::judge {
namespace {

using Effect = Change::Effect;
using What = Change::What;

bool is_write(format::OpCode code) {
  return code >= format::OpCode::kInsert && code <= format::OpCode::kDeletePair;
}

// Returns whether other transactions can see the writes of a transaction that ended this way.
Effect effect_of(script::TransactionEnd end) {
  switch (end) {
    case script::TransactionEnd::kCommitted:
      return Effect::kYes;
    case script::TransactionEnd::kFailed:
      return Effect::kMaybe;
    default:
      return Effect::kNo;
  }
}

Moment moment_of(uint32_t phase, uint32_t thread, const format::Step& step) {
  return {phase, thread, step.op, step.transaction};
}

// Returns how many writes the program executes.
std::size_t count_writes(std::span<const format::Op> ops) {
  std::size_t count = 0;
  bool repeats = false;
  for (const format::Op& op : ops) {  // several times as fast as walk_program()
    count += is_write(op.code) ? 1 : 0;
    repeats = repeats || op.code == format::OpCode::kRepeat;
  }
  if (!repeats) return count;
  count = 0;
  format::walk_program(
      ops, [&](const format::Step& step) { count += is_write(ops[step.op].code) ? 1 : 0; });
  return count;
}

// Counts the writes of all phases that were played, so that their array, the judge's largest, is
// allocated only once.
std::size_t count_writes(const script::Script& script, const script::Outcome& outcome) {
  std::size_t count = 0;
  for (std::size_t phase = 0; phase < outcome.phases.size(); ++phase) {
    for (const std::vector<format::Op>& ops : script.phases[phase].threads)
      count += count_writes(ops);
  }
  return count;
}

// Calls visit(op, step, slots, begin) for each execution of an op that changes records, and of each
// kRun. slots[s] is the index that is open in slot s (a thread's variable for a handle). `begin` is
// the number of the op that began the open transaction, or kNone.
constexpr uint64_t kNone = UINT64_MAX;
using Slots = std::array<uint32_t, format::kSlots>;

template <typename Visit>
void for_each_change(std::span<const format::Op> ops, Visit&& visit) {
  Slots slots{};
  uint64_t begin = kNone;
  format::walk_program(ops, [&](const format::Step& step) {
    const format::Op& op = ops[step.op];
    if (op.code == format::OpCode::kGet) return;  // skips most ops, which halves the walk's time
    if (op.code == format::OpCode::kOpen) slots[op.slot] = op.argument;
    if (op.code == format::OpCode::kBegin) begin = step.op;
    if (op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort) begin = kNone;
    if (is_write(op.code) || op.code == format::OpCode::kDeleteRead ||
        op.code == format::OpCode::kRun)
      visit(op, step, slots, begin);
  });
}

// Calls visit(phase, thread) for each thread of the phases that were played.
template <typename Visit>
void for_each_thread(const script::Script& script, const script::Outcome& outcome, Visit&& visit) {
  for (uint32_t phase = 0; phase < outcome.phases.size(); ++phase) {
    const auto threads = static_cast<uint32_t>(script.phases[phase].threads.size());
    for (uint32_t thread = 0; thread < threads; ++thread) visit(phase, thread);
  }
}

// Sorts the writes by index and rank (the position of the key in key order), and returns the
// position of each write in this order. Writes with equal index and rank stay in their order. The
// writes are numbered as for_each_change() visits them. Returns an empty vector if the writes are
// in this order already.
//
// The changes are the judge's largest array, and moving them would take several times as long as
// all other steps. So their order is computed first, and each change is then written to its place.
std::vector<uint32_t> positions_of_writes(const script::Script& script, const KeyRanks& ranks,
                                          const script::Outcome& outcome) {
  std::vector<Note> notes, spare;
  notes.reserve(count_writes(script, outcome));
  for_each_thread(script, outcome, [&](uint32_t phase, uint32_t thread) {
    for_each_change(script.phases[phase].threads[thread],
                    [&](const format::Op& op, const format::Step&, const Slots& slots, uint64_t) {
                      if (!is_write(op.code)) return;
                      const uint32_t index = slots[op.slot];
                      const uint32_t rank = ranks.rank(script.indexes[index].type, op.key);
                      notes.push_back({.head = uint64_t{index} << 32 | rank,
                                       .number = static_cast<uint32_t>(notes.size())});
                    });
  });
  if (std::ranges::is_sorted(notes, {}, &Note::head)) return {};
  sort_notes(notes, spare);
  std::vector<uint32_t> positions(notes.size());
  for (uint32_t at = 0; at < notes.size(); ++at) positions[notes[at].number] = at;
  return positions;
}

// Returns true if `b` must come before `a`: they are sorted by index, rank, phase, thread and op.
bool are_reversed(const Change& a, const Change& b) {
  const auto key = [](const Change& change) {
    const Moment& moment = change.moment;
    return std::tuple(uint64_t{change.index} << 32 | change.rank,
                      uint64_t{moment.phase} << 32 | moment.thread, uint64_t{moment.op});
  };
  return key(b) < key(a);
}

}  // namespace

ExpectedState::ExpectedState(const script::Script& script, const KeyRanks& ranks,
                             const script::Outcome& outcome)
    : script_(&script),
      ranks_(&ranks),
      deletes_read_(script.indexes.size()),
      deletes_computed_(script.indexes.size()),
      computed_(script.indexes.size()) {
  place_changes(outcome);
  // The changes are not in the order of ops if a transaction contains an auto-commit op.
  // place_changes() gives this op the position of the transaction's begin. So the op must be sorted
  // before earlier ops of the transaction.
  if (std::ranges::adjacent_find(changes_, are_reversed) != changes_.end()) {
    std::ranges::sort(changes_,
                      [](const Change& a, const Change& b) { return are_reversed(b, a); });
  }
  std::sort(runs_.begin(), runs_.end(),
            [](const Run& a, const Run& b) { return a.first_tag < b.first_tag; });
  number_keys();
}

// Writes each change to its place. Notes which indexes procedures change, and from which indexes
// kDeleteRead deletes. These ops choose their records at run time, so they make no Change.
void ExpectedState::place_changes(const script::Outcome& outcome) {
  const std::vector<uint32_t> positions = positions_of_writes(*script_, *ranks_, outcome);
  const script::Pools& pools = script_->pools;
  changes_.resize(positions.empty() ? count_writes(*script_, outcome) : positions.size());
  std::size_t number = 0;
  const auto place = [&](const Change& change) {
    changes_[positions.empty() ? number : positions[number]] = change;
    ++number;
  };
  for_each_thread(*script_, outcome, [&](uint32_t phase, uint32_t thread) {
    const script::ThreadResult& result = outcome.phases[phase].threads[thread];
    for_each_change(
        script_->phases[phase].threads[thread],
        [&](const format::Op& op, const format::Step& step, const Slots& slots, uint64_t begin) {
          if (op.code == format::OpCode::kDeleteRead) deletes_read_[slots[op.slot]] = true;
          if (op.code == format::OpCode::kRun) {
            add_run(op, slots, moment_of(phase, thread, step),
                    effect_of(result.ends[step.transaction]));
          }
          if (!is_write(op.code)) return;
          const uint32_t index = slots[op.slot];
          const KeyType type = script_->indexes[index].type;
          Change change{.index = index & Change::kIndexesMax,
                        .what = what_of(op.code),
                        .effect = effect_of(result.ends[step.transaction]),
                        .kept = pools.is_kept(type, op.key),
                        .rank = ranks_->rank(type, op.key),
                        .tag = op.argument,
                        .text = op.payload,
                        .number = op.key,
                        .moment = moment_of(phase, thread, step)};
          if (begin != kNone && (op.flags & format::kAutoCommit) != 0) {
            // An earlier attempt of the transaction around this call may have made the call
            // already.
            change.moment.op = begin & Moment::kOpsMax;
            change.effect = Effect::kMaybe;
          }
          place(change);
        });
  });
}

// Numbers the keys. Notes the changes of each key and of each tag (the unique number of a payload),
// and the deletes of the whole key.
void ExpectedState::number_keys() {
  keys_.reserve(changes_.size());
  for (uint32_t i = 0; i < changes_.size(); ++i) {
    Change& change = changes_[i];
    const bool same =
        i > 0 && changes_[i - 1].index == change.index && changes_[i - 1].rank == change.rank;
    const auto deletes = static_cast<uint32_t>(deletes_.size());
    if (!same)
      keys_.push_back({.first = i, .last = i, .first_delete = deletes, .rank = change.rank});
    change.key = static_cast<uint32_t>(keys_.size() - 1);
    if (change.what == What::kDeleteKey) deletes_.push_back(i);
    if (change.what == What::kInsert) {
      inserts_of_.add(change.tag, i);
      tags_ = std::max(tags_, change.tag + uint64_t{1});
    }
    if (change.what == What::kDeletePair) pair_deletes_of_.add(change.tag, i);
    keys_.back().last = i + 1;
    keys_.back().last_delete = static_cast<uint32_t>(deletes_.size());
  }
  inserts_of_.finish();
  pair_deletes_of_.finish();
  find_buckets();
}

void ExpectedState::find_buckets() {
  keys_of_.resize(script_->indexes.size());
  uint32_t key = 0;
  for (uint32_t index = 0; index < keys_of_.size(); ++index) {
    KeysOfIndex& keys = keys_of_[index];
    keys.first = key;
    while (key < keys_.size() && changes_[keys_[key].first].index == index) ++key;
    keys.last = key;
    if (keys.first == keys.last) continue;
    keys.rank = keys_[keys.first].rank;
    const uint32_t span = keys_[keys.last - 1].rank - keys.rank;
    while (span >> keys.shift > keys.last - keys.first) ++keys.shift;
    // One more start than buckets, so that each bucket ends where the next one starts.
    keys.bucket_starts.assign((span >> keys.shift) + std::size_t{2}, keys.last);
    for (uint32_t at = keys.last; at-- > keys.first;)
      keys.bucket_starts[(keys_[at].rank - keys.rank) >> keys.shift] = at;
    for (std::size_t bucket = keys.bucket_starts.size() - 1; bucket-- > 0;) {
      keys.bucket_starts[bucket] =
          std::min(keys.bucket_starts[bucket], keys.bucket_starts[bucket + 1]);
    }
  }
}

void ExpectedState::TagTable::add(uint32_t tag, uint32_t position) {
  if (tag >= first_.size()) {
    first_.resize(std::max<std::size_t>(tag + std::size_t{1}, first_.size() * 2), kNone);
  }
  if (first_[tag] == kNone) {
    first_[tag] = position;
  } else {
    first_[tag] |= kMore;
    more_.emplace_back(tag, position);
  }
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
    if (instruction.code == format::InstructionCode::kDelete) deletes_computed_[index] = true;
  }
}

}  // namespace keydrome::judge
