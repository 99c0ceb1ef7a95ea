// Implements ExpectedState: derives from the order of all writes what a read can return. An op is
// one operation of a thread's program.
#include "benchmarks/kit/judge/expected_state.h"

#include <algorithm>

#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/evidence.h"

namespace keydrome::judge {
namespace {

using Effect = Change::Effect;
using What = Change::What;

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
  if (a.phase != b.phase) return a.phase < b.phase;
  return a.thread != b.thread ? a.thread < b.thread : a.op < b.op;
}

// Return the first and the last possible position of a thread in a phase.
Moment first_of(uint32_t phase, uint32_t thread) { return {phase, thread, 0, 0}; }
Moment last_of(uint32_t phase, uint32_t thread) { return {phase, thread, Moment::kOpsMax, 0}; }

// Returns true if the change deletes the record of the insert. REQUIRES: both have the same key.
bool deletes(const Change& change, const Change& insert) {
  return change.what == What::kDeleteKey ||
         (change.what == What::kDeletePair && change.tag == insert.tag);
}

}  // namespace

std::optional<std::string> ExpectedState::why_not_computed(uint32_t tag,
                                                           const Moment& reader) const {
  auto run = std::upper_bound(runs_.begin(), runs_.end(), tag,
                              [](uint32_t number, const Run& a) { return number < a.first_tag; });
  if (run == runs_.begin() || tag - (run - 1)->first_tag >= (run - 1)->tags) {
    return "no transaction inserted the record's payload";
  }
  --run;
  if (run->effect == Effect::kNo && !same_transaction(run->moment, reader)) {
    return "the transaction that inserted the record was aborted (" + describe(run->moment) + ")";
  }
  if (before(reader, run->moment))
    return "the record was inserted only later (by " + describe(run->moment) + ")";
  return std::nullopt;
}

uint32_t ExpectedState::lower_key(uint32_t index, uint64_t rank) const {
  const KeysOfIndex& keys = keys_of_[index];
  if (keys.first == keys.last || rank <= keys.rank) return keys.first;
  const uint64_t bucket = (rank - keys.rank) >> keys.shift;  // 64 bits, as `rank` may be UINT64_MAX
  if (bucket >= keys.bucket_starts.size() - 1) return keys.last;
  uint32_t first = keys.bucket_starts[bucket], last = keys.bucket_starts[bucket + 1];
  while (first < last) {
    const uint32_t middle = first + (last - first) / 2;
    if (keys_[middle].rank < rank) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

std::span<const Change> ExpectedState::changes(uint32_t index, uint64_t from, uint64_t to) const {
  if (to == from + 1) return changes(index, static_cast<uint32_t>(from));
  const uint32_t first = lower_key(index, from), last = lower_key(index, to);
  if (first >= last) return {};
  return std::span(changes_).subspan(keys_[first].first, keys_[last - 1].last - keys_[first].first);
}

std::span<const Change> ExpectedState::changes(uint32_t index, uint32_t rank) const {
  const uint32_t key = lower_key(index, rank);
  if (key == keys_of_[index].last || keys_[key].rank != rank) return {};
  return std::span(changes_).subspan(keys_[key].first, keys_[key].last - keys_[key].first);
}

// Returns a delete of the insert's record that comes after `after` and before `before` in the order
// of the changes, and that accepts() accepts. Returns null if there is none. Op 0 of a thread never
// deletes, so first_of() is before all deletes of the thread.
template <typename Accepts>
const Change* ExpectedState::find_delete(const Change& insert, const Moment& after,
                                         const Moment& before, Accepts&& accepts) const {
  if (deletes_.empty() && pair_deletes_of_.empty()) return nullptr;
  const Key& key = keys_[insert.key];
  if (key.first_delete == key.last_delete && pair_deletes_of_.empty()) return nullptr;
  const auto last = deletes_.begin() + key.last_delete;
  auto at = std::partition_point(deletes_.begin() + key.first_delete, last, [&](uint32_t i) {
    return !sorts_before(after, changes_[i].moment);
  });
  for (; at != last && sorts_before(changes_[*at].moment, before); ++at) {
    if (accepts(changes_[*at])) return &changes_[*at];
  }
  const Change* found = nullptr;
  pair_deletes_of_.visit(insert.tag, [&](uint32_t i) {
    const Change& change = changes_[i];
    const bool inside = sorts_before(after, change.moment) && sorts_before(change.moment, before);
    if (inside && change.key == insert.key && accepts(change)) found = &change;
    return found != nullptr;
  });
  return found;
}

void ExpectedState::prefetch(uint32_t tag, uint32_t step) const {
  asm volatile("");  // without this, g++ 12 removes calls of this function as having no effect
  if (step == 0) return inserts_of_.prefetch(tag);
  const uint32_t position = inserts_of_.first(tag);
  if (position == TagTable::kNone) return;
  const Change& insert = changes_[position];
  if (step == 1) {
    __builtin_prefetch(&insert);
    return __builtin_prefetch(reinterpret_cast<const char*>(&insert) + sizeof insert - 1);
  }
  ranks_->prefetch_key(script_->indexes[insert.index].type, insert.rank, step - 2);
  const script::Strings& texts = script_->pools.payloads;
  if (step == 2) {
    if (!deletes_.empty()) __builtin_prefetch(&keys_[insert.key]);
    __builtin_prefetch(&texts.offsets()[insert.text]);
  } else if (step == 3) {
    __builtin_prefetch(texts.bytes().data() + texts.offsets()[insert.text]);
  }
}

void ExpectedState::prefetch_key(uint32_t index, uint32_t rank, uint32_t step) const {
  asm volatile("");  // for the same reason as in prefetch()
  const KeysOfIndex& keys = keys_of_[index];
  const std::size_t bucket = (rank - keys.rank) >> keys.shift;
  if (rank < keys.rank || bucket >= keys.bucket_starts.size()) return;
  if (step == 0) return __builtin_prefetch(&keys.bucket_starts[bucket]);
  const uint32_t first = keys.bucket_starts[bucket];
  if (first == keys.last) return;
  __builtin_prefetch(step == 1 ? static_cast<const void*>(&keys_[first])
                               : &changes_[keys_[first].first]);
}

bool ExpectedState::must_see(const Change& insert, const Moment& reader) const {
  const Moment& written = insert.moment;
  if (!knows_deletes(insert) || !before(written, reader)) return false;
  if (insert.effect != Effect::kYes && !same_transaction(written, reader)) return false;
  // Any delete may hide the record, unless the delete certainly happened before the insert or after
  // the read.
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
  if (key.first_delete == key.last_delete) return false;
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
                    : std::optional<std::string>(
                          "at this time, the index cannot contain a record that this call deletes");
  }
  std::optional<std::string> reason;
  for_each_required(change.index, change.rank, change.rank + uint64_t{1}, change.moment,
                    [&](const Change& insert) {
                      if (!deletes(change, insert)) return;
                      reason = "the record that " + describe(insert.moment) +
                               " inserted must still be stored, because no transaction deleted "
                               "this record before";
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
      reason = "the same pair of key and payload must still be stored, because " +
               describe(insert.moment) + " inserted this pair and no transaction deleted it";
    }
    possible = possible || !why_invisible(insert, change.moment);
  });
  if (existed && !possible)
    return "at this time, the index cannot contain this pair of key and payload";
  return reason;
}

std::optional<std::string> ExpectedState::why_invisible(const Change& insert,
                                                        const Moment& reader) const {
  const Moment& written = insert.moment;
  const bool own = same_transaction(written, reader);
  if (!own && insert.effect == Effect::kNo) {
    return "the transaction that inserted the record was aborted (" + describe(written) + ")";
  }
  if (before(reader, written))
    return "the record was inserted only later (by " + describe(written) + ")";
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
  return "the record had been deleted (by " + describe(hides->moment) + ")";
}

// has_text(text) says whether the payload has the text with this number.
template <typename HasText>
std::optional<std::string> ExpectedState::why_impossible_if(uint32_t index, uint32_t rank,
                                                            uint32_t tag, const Moment& reader,
                                                            HasText&& has_text) const {
  bool possible = false;  // most records are right, so a reason becomes text only when it is needed
  std::optional<std::string> reason;
  for_each_insert(tag, [&](const Change& insert) {
    if (possible || insert.index != index || insert.rank != rank) return;
    if (has_text(insert.text)) {
      reason = why_invisible(insert, reader);
      possible = !reason;
    } else {
      reason = "the text of the record's payload differs from the inserted text";
    }
  });
  if (possible) return std::nullopt;
  if (computed_[index]) {
    std::optional<std::string> not_computed = why_not_computed(tag, reader);
    if (!not_computed || !reason) return not_computed;
  }
  if (!reason) reason = "no transaction inserted the record's payload under this key";
  return reason;
}

std::optional<std::string> ExpectedState::why_impossible(uint32_t index, uint32_t rank,
                                                         std::string_view payload,
                                                         const Moment& reader) const {
  const std::optional<uint32_t> tag = format::read_tag(payload);
  if (!tag) {
    return "the record's payload does not begin with 8 letters from A to P, as every inserted "
           "payload does";
  }
  return why_impossible_if(index, rank, *tag, reader, [&](uint32_t text) {
    return payload.substr(format::kTagBytes) == script_->pools.payloads[text];
  });
}

std::optional<std::string> ExpectedState::why_impossible(uint32_t index, uint32_t rank,
                                                         uint32_t tag, uint32_t text,
                                                         const Moment& reader) const {
  const script::Strings& texts = script_->pools.payloads;
  return why_impossible_if(index, rank, tag, reader, [&](uint32_t written) {
    return written == text || texts[written] == texts[text];
  });
}

std::string ExpectedState::describe(const Moment& moment) const {
  return "transaction " + std::to_string(moment.transaction) + " of thread " +
         std::to_string(moment.thread) + " in " + phase_text(script_->phases[moment.phase]);
}

}  // namespace keydrome::judge
