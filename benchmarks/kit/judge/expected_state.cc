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

// Returns true if `a` comes before `b` in the order of phase, thread and op. The changes of a key
// are sorted in this order.
bool sorts_before(const Moment& a, const Moment& b) {
  return std::tie(a.phase, a.thread, a.op) < std::tie(b.phase, b.thread, b.op);
}

// Return the first and the last possible position of a thread in a phase.
Moment first_of(uint32_t phase, uint32_t thread) { return {.phase = phase, .thread = thread}; }
Moment last_of(uint32_t phase, uint32_t thread) {
  return {.phase = phase, .thread = thread, .op = UINT64_MAX};
}

// Returns true if the change deletes the record of the insert. REQUIRES: both have the same key.
bool deletes(const Change& change, const Change& insert) {
  return change.what == What::kDeleteKey ||
         (change.what == What::kDeletePair && change.tag == insert.tag);
}

bool is_change(format::OpCode code) {
  return code >= format::OpCode::kInsert && code <= format::OpCode::kDeletePair;
}

// Counts the changes of all phases that were played, so that their array is allocated only once. It
// is the judge's largest one.
std::size_t count_changes(const script::Script& script, const script::Outcome& outcome) {
  std::size_t count = 0;
  for (std::size_t phase = 0; phase < outcome.phases.size(); ++phase) {
    for (const std::vector<format::Op>& ops : script.phases[phase].threads) {
      format::walk_program(
          ops, [&](const format::Step& step) { count += is_change(ops[step.op].code) ? 1 : 0; });
    }
  }
  return count;
}

}  // namespace

ExpectedState::ExpectedState(const script::Script& script, const KeyRanks& ranks,
                             const script::Outcome& outcome)
    : script_(&script),
      ranks_(&ranks),
      deletes_read_(script.indexes.size()),
      deletes_computed_(script.indexes.size()),
      computed_(script.indexes.size()) {
  changes_.reserve(count_changes(script, outcome));
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
  number_keys();
  inserts_of_ = TagTable(changes_, What::kInsert);
  pair_deletes_of_ = TagTable(changes_, What::kDeletePair);
}

// Numbers the keys. Notes the changes of each key, and the deletes of the whole key.
void ExpectedState::number_keys() {
  for (uint32_t i = 0; i < changes_.size(); ++i) {
    Change& change = changes_[i];
    const bool same =
        i > 0 && changes_[i - 1].index == change.index && changes_[i - 1].rank == change.rank;
    const auto deletes = static_cast<uint32_t>(deletes_.size());
    if (!same) keys_.push_back({.first = i, .last = i, .first_delete = deletes});
    change.key = static_cast<uint32_t>(keys_.size() - 1);
    if (change.what == What::kDeleteKey) deletes_.push_back(i);
    keys_.back().last = i + 1;
    keys_.back().last_delete = static_cast<uint32_t>(deletes_.size());
  }
}

// Sorts by counting.
ExpectedState::TagTable::TagTable(std::span<const Change> changes, What what) {
  uint32_t largest = 0;
  std::size_t count = 0;
  for (const Change& change : changes) {
    if (change.what != what) continue;
    largest = std::max(largest, change.tag);
    ++count;
  }
  if (count == 0) return;
  first_.resize(largest + std::size_t{2});
  for (const Change& change : changes) {
    if (change.what == what) ++first_[change.tag + std::size_t{1}];
  }
  for (std::size_t tag = 1; tag < first_.size(); ++tag) first_[tag] += first_[tag - 1];
  positions_.resize(count);
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (uint32_t i = 0; i < changes.size(); ++i) {
    if (changes[i].what == what) positions_[next[changes[i].tag]++] = i;
  }
}

void ExpectedState::add_thread(const script::Outcome& outcome, uint32_t phase, uint32_t thread) {
  const std::vector<format::Op>& ops = script_->phases[phase].threads[thread];
  const script::ThreadResult& result = outcome.phases[phase].threads[thread];
  std::array<uint32_t, format::kSlots> slots{};
  uint64_t begin = UINT64_MAX;  // the op that began the open transaction
  format::walk_program(ops, [&](const format::Step& step) {
    const format::Op& op = ops[step.op];
    if (op.code == format::OpCode::kOpen) slots[op.slot] = op.argument;
    if (op.code == format::OpCode::kBegin) begin = step.op;
    if (op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort) begin = UINT64_MAX;
    if (op.code == format::OpCode::kDeleteRead) deletes_read_[slots[op.slot]] = true;
    if (op.code == format::OpCode::kRun) {
      add_run(op, slots, {phase, thread, step.op, step.transaction},
              effect_of(result.ends[step.transaction]));
    }
    if (!is_change(op.code)) return;
    const uint32_t index = slots[op.slot];
    Change change{.index = index,
                  .rank = ranks_->rank(script_->indexes[index].type, op.key),
                  .tag = op.argument,
                  .text = op.payload,
                  .moment = {phase, thread, step.op, step.transaction},
                  .what = op.code == format::OpCode::kInsert      ? What::kInsert
                          : op.code == format::OpCode::kDeleteKey ? What::kDeleteKey
                                                                  : What::kDeletePair,
                  .effect = effect_of(result.ends[step.transaction]),
                  .kept = script_->pools.is_kept(script_->indexes[index].type, op.key)};
    if (begin != UINT64_MAX && (op.flags & format::kAutoCommit) != 0) {
      // An earlier attempt of the transaction around this call may have made the call already.
      change.moment.op = begin;
      change.effect = Effect::kMaybe;
    }
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
    if (instruction.code == format::InstructionCode::kDelete) deletes_computed_[index] = true;
  }
}

std::optional<std::string> ExpectedState::why_not_computed(uint32_t tag,
                                                           const Moment& reader) const {
  auto run = std::upper_bound(runs_.begin(), runs_.end(), tag,
                              [](uint32_t number, const Run& a) { return number < a.first_tag; });
  if (run == runs_.begin() || tag - (run - 1)->first_tag >= (run - 1)->tags) {
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

// Returns a delete of the insert's record that comes after `after` and before `before` in the order
// of the changes, and that accepts() accepts. Returns null if there is none. Op 0 of a thread never
// deletes, so first_of() is before all deletes of the thread.
template <typename Accepts>
const Change* ExpectedState::find_delete(const Change& insert, const Moment& after,
                                         const Moment& before, Accepts&& accepts) const {
  if (deletes_.empty() && pair_deletes_of_.empty()) return nullptr;
  const Key& key = keys_[insert.key];
  const auto last = deletes_.begin() + key.last_delete;
  auto at = std::partition_point(deletes_.begin() + key.first_delete, last, [&](uint32_t i) {
    return !sorts_before(after, changes_[i].moment);
  });
  for (; at != last && sorts_before(changes_[*at].moment, before); ++at) {
    if (accepts(changes_[*at])) return &changes_[*at];
  }
  for (const uint32_t i : pair_deletes_of_.positions(insert.tag)) {
    const Change& change = changes_[i];
    const bool inside = sorts_before(after, change.moment) && sorts_before(change.moment, before);
    if (inside && change.key == insert.key && accepts(change)) return &change;
  }
  return nullptr;
}

void ExpectedState::prefetch(uint32_t tag, uint32_t step) const {
  asm volatile("");  // g++ 12 takes a function that only prefetches for one without an effect
  if (step == 0) return inserts_of_.prefetch(tag);
  const std::span<const uint32_t> positions = inserts_of_.positions(tag);
  if (positions.empty()) return;
  if (step == 1) return __builtin_prefetch(positions.data());
  const Change& insert = changes_[positions[0]];
  if (step == 2) {
    __builtin_prefetch(&insert);
    __builtin_prefetch(reinterpret_cast<const char*>(&insert) + sizeof insert - 1);
  } else if (!deletes_.empty()) {
    __builtin_prefetch(&keys_[insert.key]);
  }
}

bool ExpectedState::must_see(const Change& insert, const Moment& reader) const {
  const Moment& written = insert.moment;
  if (!knows_deletes(insert) || !before(written, reader)) return false;
  if (insert.effect != Effect::kYes && !same_transaction(written, reader)) return false;
  // Any delete hides the record, unless it is certainly before the insert or after the read.
  const auto may_hide = [&](const Change& change) {
    return change.effect != Effect::kNo || same_transaction(change.moment, reader);
  };
  const auto hides = [&](const Moment& after, const Moment& before) {
    return find_delete(insert, after, before, may_hide) != nullptr;
  };
  if (written.phase == reader.phase) {
    return !hides(written, reader) &&
           !hides(first_of(reader.phase, 0), first_of(reader.phase, reader.thread)) &&
           !hides(last_of(reader.phase, reader.thread), first_of(reader.phase + 1, 0));
  }
  return !hides(first_of(written.phase, 0), first_of(written.phase, written.thread)) &&
         !hides(written, reader) &&
         !hides(last_of(reader.phase, reader.thread), first_of(reader.phase + 1, 0));
}

// Returns true if another thread may delete the whole key in the phase of the reader. Then no
// record of the key is required, because the delete may have happened just before the read.
bool ExpectedState::others_delete(const Key& key, const Moment& reader) const {
  const auto last = deletes_.begin() + key.last_delete;
  auto at = std::partition_point(deletes_.begin() + key.first_delete, last, [&](uint32_t i) {
    return changes_[i].moment.phase < reader.phase;
  });
  for (; at != last && changes_[*at].moment.phase == reader.phase; ++at) {
    const Change& change = changes_[*at];
    if (change.moment.thread == reader.thread) {  // skip the reader's own deletes
      at = std::partition_point(at, last, [&](uint32_t i) {
        return !sorts_before(last_of(reader.phase, reader.thread), changes_[i].moment);
      });
      if (at == last || changes_[*at].moment.phase != reader.phase) return false;
    }
    if (changes_[*at].effect != Effect::kNo) return true;
  }
  return false;
}

// Visits the required records of one key, from the newest to the oldest. A delete of the whole key
// by the reader's own thread ends the search, because it deleted all older records.
void ExpectedState::for_each_required(
    const Key& key, const Moment& reader,
    const std::function<void(const Change& insert)>& visit) const {
  if (others_delete(key, reader)) return;
  const auto first = changes_.begin() + key.first;
  auto at = std::partition_point(first, changes_.begin() + key.last, [&](const Change& change) {
    return sorts_before(change.moment, reader);
  });
  while (at != first) {
    const Change& change = *--at;
    const bool own_thread =
        change.moment.phase == reader.phase && change.moment.thread == reader.thread;
    const bool done = change.effect == Effect::kYes || same_transaction(change.moment, reader);
    if (own_thread && done && change.what == What::kDeleteKey) return;
    if (change.what == What::kInsert && must_see(change, reader)) visit(change);
  }
}

void ExpectedState::for_each_required(
    uint32_t index, uint64_t from, uint64_t to, const Moment& reader,
    const std::function<void(const Change& insert)>& visit) const {
  const std::span<const Change> range = changes(index, from, to);
  for (std::size_t at = 0; at < range.size();) {
    const Key& key = keys_[range[at].key];
    for_each_required(key, reader, visit);
    at += key.last - key.first;
  }
}

// Returns true if the reader can find a record of the key. First looks at the records that other
// threads insert in the reader's phase. Then looks at all others, from the newest to the oldest.
// This order rarely needs more than a few records.
bool ExpectedState::may_find(uint32_t index, uint32_t rank, const Moment& reader) const {
  const std::span<const Change> all = changes(index, rank);
  const auto is_before = [&](const Moment& moment) {
    return std::partition_point(all.begin(), all.end(), [&](const Change& change) {
      return sorts_before(change.moment, moment);
    });
  };
  const auto can_be_seen = [](const Change& change) {
    return change.what == What::kInsert && change.effect != Effect::kNo;
  };
  const auto phase = is_before(first_of(reader.phase, 0));
  const auto own = is_before(first_of(reader.phase, reader.thread));
  const auto others = is_before(first_of(reader.phase, reader.thread + 1));
  const auto later = is_before(first_of(reader.phase + 1, 0));
  if (std::any_of(phase, own, can_be_seen) || std::any_of(others, later, can_be_seen)) return true;
  for (auto at = is_before(reader); at != all.begin();) {
    const Change& change = *--at;
    const bool done = change.effect == Effect::kYes || same_transaction(change.moment, reader);
    if (at >= own && done && change.what == What::kDeleteKey) return false;
    if (change.what == What::kInsert && !why_invisible(change, reader)) return true;
  }
  return false;
}

std::optional<std::string> ExpectedState::why_wrong_delete(const Change& change, bool found) const {
  if (found) {
    bool possible = false;
    if (change.what == What::kDeleteKey) {
      possible = may_find(change.index, change.rank, change.moment);
    } else {
      for_each_insert(change.tag, [&](const Change& insert) {
        possible = possible || (insert.index == change.index && insert.rank == change.rank &&
                                !why_invisible(insert, change.moment));
      });
    }
    return possible ? std::nullopt
                    : std::optional<std::string>("no such record can have been stored");
  }
  std::optional<std::string> reason;
  for_each_required(change.index, change.rank, change.rank + uint64_t{1}, change.moment,
                    [&](const Change& insert) {
                      if (!deletes(change, insert)) return;
                      reason = "the record that " + describe(insert.moment) +
                               " inserted must still be stored, because no other transaction "
                               "deleted it";
                    });
  return reason;
}

std::optional<std::string> ExpectedState::why_wrong_insert(const Change& change,
                                                           bool existed) const {
  bool possible = false;
  std::optional<std::string> reason;
  for_each_insert(change.tag, [&](const Change& insert) {
    const bool same_pair =
        insert.index == change.index && insert.rank == change.rank && insert.text == change.text;
    if (!same_pair || same_op(insert.moment, change.moment)) return;
    if (!existed && must_see(insert, change.moment)) {
      reason = "the pair that " + describe(insert.moment) +
               " inserted must still be stored, because no transaction deleted it";
    }
    possible = possible || !why_invisible(insert, change.moment);
  });
  if (existed && !possible) return "this pair cannot have been stored";
  return reason;
}

std::optional<std::string> ExpectedState::why_invisible(const Change& insert,
                                                        const Moment& reader) const {
  const Moment& written = insert.moment;
  const bool own = same_transaction(written, reader);
  if (!own && insert.effect == Effect::kNo) {
    return "its transaction was aborted (" + describe(written) + ")";
  }
  if (before(reader, written)) return "it was written only later (" + describe(written) + ")";
  const auto done = [&](const Change& change) {
    return change.effect == Effect::kYes || same_transaction(change.moment, reader);
  };
  const Change* hides = nullptr;
  if (written.phase == reader.phase) {
    if (written.thread == reader.thread) hides = find_delete(insert, written, reader, done);
  } else if (written.phase < reader.phase) {
    hides = find_delete(insert, written, last_of(written.phase, written.thread), done);
    if (hides == nullptr) {
      hides = find_delete(insert, first_of(written.phase + 1, 0), first_of(reader.phase, 0), done);
    }
    if (hides == nullptr) {
      hides = find_delete(insert, first_of(reader.phase, reader.thread), reader, done);
    }
  }
  if (hides == nullptr) return std::nullopt;
  return "it had been deleted (" + describe(hides->moment) + ")";
}

std::optional<std::string> ExpectedState::why_impossible(uint32_t index, uint32_t rank,
                                                         std::string_view payload,
                                                         const Moment& reader) const {
  const std::optional<uint32_t> tag = format::read_tag(payload);
  if (!tag) return "the payload does not begin with a tag, so no transaction wrote it";
  std::optional<std::string> reason = "no transaction wrote this payload under this key";
  if (computed_[index]) reason = why_not_computed(*tag, reader);
  for_each_insert(*tag, [&](const Change& insert) {
    if (!reason || insert.index != index || insert.rank != rank) return;
    if (payload.substr(format::kTagBytes) == script_->pools.payloads[insert.text]) {
      reason = why_invisible(insert, reader);
    } else {
      reason = "its text differs from the text that was written";
    }
  });
  return reason;
}

std::string ExpectedState::describe(const Moment& moment) const {
  return "thread " + std::to_string(moment.thread) + ", transaction " +
         std::to_string(moment.transaction) + " of phase " + script_->phases[moment.phase].name;
}

}  // namespace keydrome::judge
