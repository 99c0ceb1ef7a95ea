// PoolsView and PieceView: give the player, which calls the library, read access to the data from
// the referee, which generates the operations. The session's image (format/program.h) contains what
// all phases share, such as the names of the indexes. A piece (format/piece.h) contains the next
// operations of one thread. A pool is a numbered list of keys or texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "benchmarks/kit/format/program.h"

namespace keydrome::player {

// A pool of strings. It refers to the bytes of the image and copies nothing.
class StringPool {
 public:
  StringPool() = default;
  StringPool(const uint32_t* offsets, const char* bytes, uint64_t count)
      : offsets_(offsets), bytes_(bytes), count_(count) {}
  std::string_view operator[](uint32_t i) const {
    return {bytes_ + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  uint64_t size() const { return count_; }

 private:
  const uint32_t* offsets_ = nullptr;
  const char* bytes_ = nullptr;
  uint64_t count_ = 0;
};

// Everything that ops (operations) refer to by number. The view refers to the session's image and
// to the piece, which must stay mapped as long as the view is used. Thread safety: read-only.
struct PoolsView {
  // From the session's image.
  std::span<const format::IndexEntry> indexes;
  std::span<const format::ProcedureEntry> procedures;
  std::span<const format::Instruction> instructions;
  // The string keys that procedures compute, by their numbers in the script. The strings of other
  // numbers are empty.
  StringPool computed_keys;
  // From the session's image, or from the piece if the session's image contains no payloads.
  StringPool payloads;
  // From the piece; empty in the view of a session's image.
  std::span<const int32_t> int32_keys;
  std::span<const int64_t> int64_keys;
  StringPool varchar_keys;
  std::span<const int64_t> parameters;
  std::span<const uint32_t> parameter_strings;  // empty, or one for each parameter

  // Checks version, offsets and lengths of the session's image. So a damaged image gives an error
  // instead of a crash.
  static Result<PoolsView> open(std::span<const std::byte> image);
};

// The next ops of one thread, and what they refer to. Thread safety: read-only.
struct PieceView {
  PoolsView pools;
  std::span<const format::Op> ops;
  bool last = true;  // the thread has no further piece in this phase

  // Checks version, offsets and counts. Does not check the lengths of strings, because a piece is
  // opened while the phase is timed. The referee is trusted, so these checks can only find errors
  // of Keydrome itself.
  static Result<PieceView> open(const PoolsView& session, std::span<const std::byte> image);
};

}  // namespace keydrome::player
