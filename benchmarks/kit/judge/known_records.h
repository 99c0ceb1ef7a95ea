// KnownRecords: recognises results that are certainly right, without the rules of ExpectedState,
// which derives from all writes of the script what a read can return.
//
// Most results of a run are about keys that the script changes only once: by an insert that
// committed. A get of such a key has one right word, the 8 bytes in which the player (the process
// that calls the library) reports the result. The judge compares this word, and applies its rules
// only to results with other words. So it finds the same violations as if it applied the rules to
// all results.
//
// Refers to the script and the ranks, which must outlive the object. Thread safety: immutable after
// construction.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/judge/expected_state.h"
#include "benchmarks/kit/judge/keys/key_ranks.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

class KnownRecords {
 public:
  KnownRecords(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected);

  // Prefetches what is_right_get() reads first for this word. Any word is allowed.
  [[gnu::always_inline]] void prefetch(uint64_t word) const {
    asm volatile("");  // without this, g++ 12 removes calls of this function as having no effect
    const uint32_t tag = format::tag_of_word(word);
    if (tag < records_.size()) __builtin_prefetch(&records_[tag]);
  }

  // Returns true if the word is certainly right for a get of `index` in this phase and thread, and
  // the get cannot have missed another record of the key. Returns false if it cannot tell.
  bool is_right_get(const format::Op& op, uint32_t index, uint32_t phase, uint32_t thread,
                    uint64_t word) const {
    if (word == format::code_word(KEY_NOTFOUND)) return !is_changed(index, op.key);
    const uint32_t tag = format::tag_of_word(word);
    if (tag >= records_.size()) return false;
    const Record& record = records_[tag];
    // A record that another thread inserts in this phase can have been read. A record that the
    // reader's own thread inserts in this phase may not be stored yet.
    const bool is_stored =
        record.phase < phase || (record.phase == phase && record.thread != thread);
    return record.key == op.key && record.index == index && is_stored &&
           has_text(word, op.payload, record.text);
  }

  // Returns true if the word is certainly right for an insert: it contains SUCCESS, and no other
  // operation inserts the same payload. Returns false if it cannot tell.
  bool is_right_insert(const format::Op& op, uint64_t word) const {
    return word == kFound && op.argument < records_.size() && records_[op.argument].inserts == 1;
  }

 private:
  static constexpr uint32_t kNoIndex = UINT32_MAX;
  static constexpr uint64_t kFound = format::code_word(SUCCESS);
  static constexpr uint32_t kThreadBits = 14;
  static constexpr uint16_t kThreadMask = (1u << kThreadBits) - 1;
  static_assert(format::kThreadsMax <= kThreadMask);

  // What is inserted with one tag, the unique number of a payload. `index` is kNoIndex unless a get
  // of the record has one right word.
  struct Record {
    uint32_t key = 0;   // number of the key in its pool
    uint32_t text = 0;  // number of the payload's text in the pool
    uint32_t index = kNoIndex;
    uint16_t phase = 0;
    uint16_t thread : kThreadBits = 0;
    uint16_t inserts : 2 = 0;  // number of inserts with the tag; 2: two or more
  };
  static_assert(sizeof(Record) == 16);

  void add_key(std::span<const Change> changes);

  // Returns true if the word contains the bytes of this text at the window, the position of the
  // four payload bytes in a word. If the window reaches beyond the end of the text, compares only
  // the bytes up to the NUL after the text.
  bool has_text(uint64_t word, uint32_t window, uint32_t text) const {
    uint32_t bytes = 0;
    if (window < format::kTagBytes) {
      bytes = static_cast<uint32_t>(format::letters_of_word(word) >> 8 * window);
    } else {
      const uint64_t from = text_offsets_[text] + window - format::kTagBytes;
      if (from + sizeof bytes > text_offsets_[text + 1]) return has_end(word, window, text);
      std::memcpy(&bytes, texts_ + from, sizeof bytes);
    }
    return is_window(word, bytes, ~0u);
  }
  bool has_end(uint64_t word, uint32_t window, uint32_t text) const;

  // Returns true if the word is that of a record with these bytes in its window. `known` has a byte
  // 0xff for each byte that is known.
  static bool is_window(uint64_t word, uint32_t bytes, uint32_t known) {
    const uint64_t folded = format::fold_first(format::spread_window(bytes));
    const uint64_t right = (folded & ~format::kWordCode) | kFound;
    return ((word ^ right) & format::known_bits(known) & ~format::kWordTag) == 0;
  }

  bool is_changed(uint32_t index, uint32_t key) const {
    const KeyType type = script_->indexes[index].type;
    const uint32_t rank = ranks_->rank(type, key);
    return (changed_[type][rank / 64] >> rank % 64 & 1) != 0;
  }

  const script::Script* script_;
  const KeyRanks* ranks_;
  const uint64_t* text_offsets_;
  const char* texts_;
  std::vector<Record> records_;                   // by tag
  std::array<std::vector<uint64_t>, 3> changed_;  // by key type: a bit per rank
};

}  // namespace keydrome::judge
