// What a transaction has read of one index, so that it can be read again.
//
// A step is a question, "which committed pair is the first from here on?", and its answer: a pair,
// or none before some bound. It covers everything between the two, so to repeat the steps is to
// look for changed records and for phantoms alike. The pairs themselves are kept, not a digest:
// validation is exact.
//
// Thread safety: none; belongs to one transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/control/content.h"

namespace keydrome::runtime {

class ReadLog {
 public:
  struct Step {
    enum class Answer : uint8_t { kPair, kNoneBefore, kNone };
    Bound from;
    Answer answer;
    Bound to;  // the pair, or the bound; means nothing with kNone
    // `from` is behind the pair of the step before: its position can be used.
    bool continues;
  };

  // Throws std::bad_alloc, with nothing changed.
  void add(const Bound& from, Step::Answer answer, const Bound& to);
  bool empty() const { return bytes_.empty(); }
  // Gives memory back after an unusually large transaction.
  void clear();

  // Reads the steps in order. The log must not change meanwhile.
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
  // Stands before the bytes of `from`, unless the step continues, and of `to`.
  struct Header {
    Step::Answer answer;
    bool continues;
    uint8_t from_flags, from_key_size, from_payload_size;
    uint8_t to_flags, to_key_size, to_payload_size;
  };
  static_assert(KEYDROME_KEY_BYTES_MAX <= UINT8_MAX && KEYDROME_PAYLOAD_BYTES_MAX <= UINT8_MAX);
  static constexpr size_t kKeepBytes = size_t{64} * 1024;

  bool continues(const Bound& from) const;
  void append(KeydromeBytes bytes);

  std::vector<uint8_t> bytes_;
  // Where the key and payload of the newest step's pair begin, when it answered one.
  bool has_last_pair_ = false;
  size_t last_pair_ = 0;
  uint8_t last_key_size_ = 0;
  uint8_t last_payload_size_ = 0;
};

}  // namespace keydrome::runtime
