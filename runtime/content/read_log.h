// ReadLog: records the reads of one transaction in one index, so that commit can repeat them.
//
// Each read is logged as one or more steps. A bound is a position between two pairs (key and
// payload). A step searches for the first committed pair after the bound `from`. Its outcome is
// either this pair, or that there is no pair before the bound `to` or before the end of the index.
//
// A pair that another transaction adds or removes in the searched part changes the outcome. So
// repeating the steps finds changed records and phantoms. The log stores whole pairs instead of a
// hash, so validation is exact.
//
//   log.add(from, ReadLog::Step::Outcome::kPair, to);
//   ReadLog::Reader reader(log);
//   for (ReadLog::Step step{}; reader.next(step);) { ... }
//
// Thread safety: none. A log belongs to one transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/content/content.h"

namespace keydrome::runtime {

class ReadLog {
 public:
  struct Step {
    enum class Outcome : uint8_t {
      kPair,        // the first pair is `to`
      kNoneBefore,  // there is no pair before the bound `to`
      kNone,        // there is no pair up to the end of the index
    };
    Bound from;
    Outcome outcome;
    Bound to;  // kPair: the pair; kNoneBefore: the bound; kNone: unused
    // True if this step starts directly after the pair that the previous step found. A repetition
    // then takes the next pair of the same run.
    bool continues;
  };

  // If memory runs out, changes nothing and throws std::bad_alloc.
  void add(const Bound& from, Step::Outcome outcome, const Bound& to);
  bool empty() const { return bytes_.empty(); }
  // Removes everything, and frees the memory if it is more than kKeepBytes.
  void clear();
  // Returns the memory that the log holds.
  size_t memory_bytes() const { return bytes_.capacity(); }

  // Returns the steps in the order of the reads. The log must not change while a Reader is in use.
  class Reader {
   public:
    explicit Reader(const ReadLog& log) : at_(log.bytes_.data()), end_(at_ + log.bytes_.size()) {}
    bool next(Step& step);

   private:
    Bound read_bound(uint8_t flags, uint8_t key_size, uint8_t payload_size);

    const uint8_t* at_;
    const uint8_t* end_;
    Bound last_pair_{};
  };

 private:
  // The encoding of a step is a header, then the bytes of `from` and the bytes of `to`. The bytes
  // of `from` are absent if the step continues the previous one. The bytes of `to` are absent after
  // kNone.
  struct Header {
    Step::Outcome outcome;
    bool continues;
    uint8_t from_flags, from_key_size, from_payload_size;
    uint8_t to_flags, to_key_size, to_payload_size;
  };
  static_assert(KEYDROME_KEY_BYTES_MAX <= UINT8_MAX && KEYDROME_PAYLOAD_BYTES_MAX <= UINT8_MAX);
  static constexpr size_t kKeepBytes = size_t{64} * 1024;

  bool continues(const Bound& from) const;
  void append(KeydromeBytes bytes);

  std::vector<uint8_t> bytes_;
  // True if the newest step found a pair. The members below are then the offset in bytes_ at which
  // the pair's key begins, and the sizes of key and payload.
  bool has_last_pair_ = false;
  size_t last_pair_ = 0;
  uint8_t last_key_size_ = 0;
  uint8_t last_payload_size_ = 0;
};

}  // namespace keydrome::runtime
