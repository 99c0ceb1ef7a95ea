// ExpectedState: knows all writes of a script (the operations of a session) by index and key. It
// decides what a read must return and what it cannot return.
//
// Threads run concurrently, so the judge does not know the order of most inserts and deletes. Two
// rules are certain, because they follow from the programs and from how each transaction ended:
//   - A record cannot be read before the transaction that inserts it begins. If this transaction
//     aborts, no other transaction can ever read the record.
//   - A record must be read if its insert came before the read and no delete of the record can have
//     happened since. The insert must have committed or be in the transaction of the read.
// In these rules, "before" means in an earlier phase, or earlier in the program of the same thread.
//
// The op (operation) kDeleteRead deletes the record that an earlier read returned, and a procedure
// computes which record it deletes. Which records these ops delete is known only at run time.
// Therefore no record is required in an index from which kDeleteRead deletes. In an index from
// which procedures delete, only records under keys that no procedure uses (Pools::kept_keys) are
// required. These ops are judged only in recorded runs. The checker certifies such a run: it proves
// that some serial order of the transactions gives all results.
//
// Refers to the script, the ranks and the outcome, which must outlive the object. Thread safety:
// immutable after construction.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/kit/judge/keys/key_ranks.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

// The position of a read or write in the script. There are millions of moments, so each has only 16
// bytes. No program has 2^40 ops, because they would not fit into the memory of any machine.
struct Moment {
  uint64_t phase : 24 = 0;
  uint64_t op : 40 = 0;
  uint64_t thread : 24 = 0;
  uint64_t transaction : 40 = 0;

  static constexpr uint64_t kOpsMax = (uint64_t{1} << 40) - 1;
  static constexpr uint64_t kThreadsMax = (uint64_t{1} << 24) - 1;

  constexpr Moment() = default;
  constexpr Moment(uint64_t in_phase, uint64_t in_thread, uint64_t at_op, uint64_t of_transaction)
      : phase(in_phase & kThreadsMax),
        op(at_op & kOpsMax),
        thread(in_thread & kThreadsMax),
        transaction(of_transaction & kOpsMax) {}
};
static_assert(sizeof(Moment) == 16);

// An insert or a delete of the script, and its effect. The effect is kYes if its transaction
// committed, kMaybe if the transaction failed, and kNo if the transaction aborted or did not run.
struct Change {
  enum class What : uint8_t { kInsert, kDeleteKey, kDeletePair };
  enum class Effect : uint8_t { kNo, kYes, kMaybe };
  static constexpr uint32_t kIndexesMax = (1u << 24) - 1;

  uint32_t index : 24 = 0;
  What what : 2 = What::kInsert;
  Effect effect : 2 = Effect::kNo;
  bool kept : 1 = false;  // no procedure uses the key
  uint32_t rank = 0;      // position of the key in key order (keys/key_ranks.h)
  uint32_t tag = 0;       // number of the payload; for kInsert and kDeletePair
  uint32_t text = 0;      // number of the payload's text in the pool, the script's list of texts
  uint32_t number = 0;    // number of the key in its pool, the script's list of keys of its type
  uint32_t key = 0;       // number of the key among all keys that are changed
  Moment moment;
};
static_assert(sizeof(Change) == 40);  // it is the judge's largest array

// Returns the kind of change that an op makes. REQUIRES: the op inserts or deletes records.
constexpr Change::What what_of(format::OpCode code) {
  if (code == format::OpCode::kInsert) return Change::What::kInsert;
  return code == format::OpCode::kDeleteKey ? Change::What::kDeleteKey : Change::What::kDeletePair;
}

class ExpectedState {
 public:
  ExpectedState(const script::Script& script, const KeyRanks& ranks,
                const script::Outcome& outcome);

  // Return all changes, the changes of one key, or those of all keys with from <= rank < to. They
  // are sorted by index and rank.
  std::span<const Change> changes() const { return changes_; }
  std::span<const Change> changes(uint32_t index, uint32_t rank) const;
  std::span<const Change> changes(uint32_t index, uint64_t from, uint64_t to) const;

  // Returns a number that is greater than the tag of every insert.
  uint64_t tags() const { return tags_; }
  // Calls visit(insert) for every insert with this tag.
  template <typename Visit>
  void for_each_insert(uint32_t tag, Visit&& visit) const {
    inserts_of_.visit(tag, [&](uint32_t i) {
      visit(changes_[i]);
      return false;
    });
  }

  // Prefetches what for_each_insert(tag) and why_invisible() read, and the key and the text of the
  // insert. The caller must call prefetch() with each step from 0 to kPrefetchSteps - 1, with some
  // time in between. Any tag is allowed.
  static constexpr uint32_t kPrefetchSteps = 5;
  void prefetch(uint32_t tag, uint32_t step) const;
  // Prefetches what the functions below read first for this key. The caller must call
  // prefetch_key() with the steps 0, 1 and 2 in turn, with some time in between. Any rank is
  // allowed.
  void prefetch_key(uint32_t index, uint32_t rank, uint32_t step) const;

  // Returns true if the reader must find the inserted record. The reader may be a read or a delete.
  bool must_see(const Change& insert, const Moment& reader) const;

  // Calls visit(insert) for every insert with from <= rank < to whose record the reader must find.
  void for_each_required(uint32_t index, uint64_t from, uint64_t to, const Moment& reader,
                         const std::function<void(const Change& insert)>& visit) const;

  // Returns the reason why the reader cannot see the record of this insert, or nothing if the
  // reader can see it.
  std::optional<std::string> why_invisible(const Change& insert, const Moment& reader) const;

  // Returns the reason why the reader cannot have found this payload under this key. Returns
  // nothing if the reader can have found it.
  std::optional<std::string> why_impossible(uint32_t index, uint32_t rank, std::string_view payload,
                                            const Moment& reader) const;
  // Does the same for the payload that consists of this tag and the text with this number.
  std::optional<std::string> why_impossible(uint32_t index, uint32_t rank, uint32_t tag,
                                            uint32_t text, const Moment& reader) const;

  // Returns true if procedures insert into the index. The keys and texts of such records are
  // unknown.
  bool has_computed_keys(uint32_t index) const { return computed_[index]; }
  // For a payload with this tag that only a procedure can have written: returns the reason why the
  // reader cannot have found it, or nothing if the reader can have found it.
  std::optional<std::string> why_not_computed(uint32_t tag, const Moment& reader) const;

  // `found` is true if the delete found a record. Returns the reason why this result is impossible,
  // or nothing if the result is possible.
  std::optional<std::string> why_wrong_delete(const Change& change, bool found) const;

  // `existed` is true if the insert returned ENTRY_EXISTS. Returns the reason why this result is
  // impossible, or nothing if the result is possible.
  std::optional<std::string> why_wrong_insert(const Change& change, bool existed) const;

  // Returns a text for findings, such as: transaction 17 of thread 3 in phase "test".
  std::string describe(const Moment& moment) const;

 private:
  // All changes of one key: positions in changes_ and in deletes_, and the key's rank.
  struct Key {
    uint32_t first = 0, last = 0, first_delete = 0, last_delete = 0;
    uint32_t rank = 0;
  };

  // Finds the keys of an index by rank. The ranks are divided into equal ranges, the buckets. There
  // are about as many buckets as keys, so a search takes constant time if the ranks are spread
  // evenly.
  struct KeysOfIndex {
    uint32_t first = 0, last = 0;  // positions in keys_
    uint32_t rank = 0;             // of the first key
    uint32_t shift = 0;            // a bucket has 2^shift ranks
    std::vector<uint32_t>
        bucket_starts;  // position in keys_ of the first key in or after each bucket
  };

  // The positions in changes_ of all changes of one kind, by tag. Tags are numbered from 1 without
  // large gaps, so the table is small.
  class TagTable {
   public:
    bool empty() const { return first_.empty(); }
    // Adds a change. REQUIRES: the positions ascend.
    void add(uint32_t tag, uint32_t position);
    // Ends the additions.
    void finish() { std::ranges::sort(more_); }

    // Prefetches the entry of a tag, which first() reads.
    [[gnu::always_inline]] void prefetch(uint32_t tag) const {
      if (tag < first_.size()) __builtin_prefetch(&first_[tag]);
    }
    // Returns the position of the first change with the tag, or kNone.
    uint32_t first(uint32_t tag) const {
      const uint32_t entry = tag < first_.size() ? first_[tag] : kNone;
      return entry == kNone ? kNone : entry & ~kMore;
    }
    // Calls is_last(position) for each change with the tag, in order, until it returns true.
    template <typename IsLast>
    void visit(uint32_t tag, IsLast&& is_last) const {
      const uint32_t position = first(tag);
      if (position == kNone || is_last(position) || (first_[tag] & kMore) == 0) return;
      for (auto at = std::ranges::lower_bound(more_, std::pair(tag, 0u));
           at != more_.end() && at->first == tag && !is_last(at->second); ++at) {
      }
    }

    static constexpr uint32_t kNone = UINT32_MAX;

   private:
    static constexpr uint32_t kMore = 1u << 31;  // in an entry: more_ has further changes

    std::vector<uint32_t> first_;
    std::vector<std::pair<uint32_t, uint32_t>> more_;  // tag and position
  };

  void place_changes(const script::Outcome& outcome);
  void number_keys();
  void find_buckets();
  // Returns the position in keys_ of the first key of the index with at least this rank. Returns
  // the position after the last key of the index if there is no such key.
  uint32_t lower_key(uint32_t index, uint64_t rank) const;
  template <typename Accepts>
  const Change* find_delete(const Change& insert, const Moment& after, const Moment& before,
                            Accepts&& accepts) const;
  template <typename HasText>
  std::optional<std::string> why_impossible_if(uint32_t index, uint32_t rank, uint32_t tag,
                                               const Moment& reader, HasText&& has_text) const;
  bool may_find(uint32_t index, uint32_t rank, const Moment& reader) const;
  bool others_delete(const Key& key, const Moment& reader) const;
  void for_each_required(const Key& key, const Moment& reader,
                         const std::function<void(const Change& insert)>& visit) const;

  const script::Script* script_;
  const KeyRanks* ranks_;
  std::vector<Change> changes_;  // sorted by index, rank, phase, thread, op
  std::vector<Key> keys_;
  std::vector<KeysOfIndex> keys_of_;  // by index
  std::vector<uint32_t> deletes_;  // the positions of all kDeleteKey in changes_, in the same order
  TagTable inserts_of_, pair_deletes_of_;
  uint64_t tags_ = 0;
  // An execution of a procedure, which may have written records with the tags [first_tag, first_tag
  // + tags).
  struct Run {
    uint32_t first_tag, tags;
    Moment moment;
    Change::Effect effect;
  };

  // Returns true if all deletes of the insert's key are among the changes.
  bool knows_deletes(const Change& insert) const {
    return !deletes_read_[insert.index] && (insert.kept || !deletes_computed_[insert.index]);
  }
  void add_run(const format::Op& op, const std::array<uint32_t, format::kSlots>& slots,
               const Moment& moment, Change::Effect effect);

  // By index: whether kDeleteRead ops delete from the index, whether procedures delete from it, and
  // whether procedures insert into it.
  std::vector<bool> deletes_read_, deletes_computed_, computed_;
  std::vector<Run> runs_;  // sorted by first_tag
};

}  // namespace keydrome::judge
