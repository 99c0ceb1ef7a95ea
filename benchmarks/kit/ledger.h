// Ledger: everything that the programs write, by index and key, and what may be concluded from it.
//
// Threads run side by side, so of most records nobody knows when they came or went. But some things
// are certain from the programs and from how each transaction ended: a record cannot be read before
// its transaction began or when it was aborted, and it must be read when it was committed before
// and nobody deleted its key since. "Before" means: in an earlier phase, or earlier in the same
// thread's program. What a kDeleteRead deletes nobody knows beforehand, so of an index with such
// ops no record must be seen: those are judged from recordings.
//
// Borrows script and outcome; immutable after construction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/key_ranks.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// Where a reader or writer stands.
struct Moment {
  uint32_t phase = 0;
  uint32_t thread = 0;
  uint64_t op = 0;
  uint64_t transaction = 0;
};

// An insert or a delete of the script.
struct Change {
  enum class What : uint8_t { kInsert, kDeleteKey, kDeletePair };
  enum class Effect : uint8_t { kNo, kYes, kMaybe };
  uint32_t index = 0;
  uint32_t rank = 0;  // of the key
  uint32_t tag = 0;   // kInsert, kDeletePair
  uint32_t text = 0;
  Moment moment;
  What what = What::kInsert;
  Effect effect = Effect::kNo;  // on what others see
};

class Ledger {
 public:
  Ledger(const Script& script, const KeyRanks& ranks, const Outcome& outcome);

  // The changes of that key, and of all keys with from <= rank < to, by rank.
  std::span<const Change> changes(uint32_t index, uint32_t rank) const {
    return changes(index, rank, uint64_t{rank} + 1);
  }
  std::span<const Change> changes(uint32_t index, uint64_t from, uint64_t to) const;

  // Whether the reader must find the inserted record. A delete is a reader of what it deletes.
  bool must_see(const Change& insert, const Moment& reader) const;

  // Why the reader cannot have found that payload under that key; nothing when it can.
  std::optional<std::string> why_impossible(uint32_t index, uint32_t rank, std::string_view payload,
                                            const Moment& reader) const;

  // Whether procedures insert records into the index: their keys and texts are not known.
  bool has_computed_keys(uint32_t index) const { return computed_[index]; }
  // Why the reader cannot have found a payload that a procedure would have written.
  std::optional<std::string> why_not_computed(std::string_view payload, const Moment& reader) const;

  // Why that delete cannot have found a record, or cannot have found none; nothing when it can.
  std::optional<std::string> why_wrong_delete(const Change& change, bool found) const;

  // Why that insert cannot have found its own pair, or must have; nothing when it can.
  std::optional<std::string> why_wrong_insert(const Change& change, bool existed) const;

  // "thread 3, transaction 17 of phase test".
  std::string describe(const Moment& moment) const;

 private:
  void add_thread(const Outcome& outcome, uint32_t phase, uint32_t thread);
  std::optional<std::string> why_invisible(const Change& insert, const Moment& reader) const;

  const Script* script_;
  const KeyRanks* ranks_;
  std::vector<Change> changes_;  // by index, rank, phase, thread, op
  // A run of a procedure, which may have written the tags [first_tag, first_tag + tags).
  struct Run {
    uint32_t first_tag, tags;
    Moment moment;
    Change::Effect effect;
  };

  void add_run(const Op& op, const std::array<uint32_t, kSlots>& slots, const Moment& moment,
               Change::Effect effect);

  std::vector<bool> deletes_unknown_;  // by index: has kDeleteRead ops, or procedures delete there
  std::vector<bool> computed_;         // by index: procedures insert there
  std::vector<Run> runs_;              // by first_tag
};

}  // namespace keydrome
