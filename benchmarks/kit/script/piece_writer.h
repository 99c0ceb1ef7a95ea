// PieceWriter: turns a part of a thread's program into a piece (format/piece.h), the bytes from
// which the player executes this part. The player is the process that calls the library. A piece
// contains the ops (operations) and only the keys that they use.
//
// In a script, ops refer by number to the pools (lists of keys and texts) of the session. A
// PieceWriter changes these numbers, so that they refer to the pools of the piece. The script
// stays as it is, because the judges need it.
//
// Thread safety: immutable after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/kit/script/script.h"

namespace keydrome::script {

// The session's image is the data that all phases share. It contains the payload texts of a script
// with at most this many texts.
inline constexpr std::size_t kSessionTextsMax = 4096;

// A procedure is a list of instructions that the player executes as one op. Returns true if the
// session's image contains all payload texts of the script. It does if there are at most
// kSessionTextsMax texts, or if a procedure reads texts by number. Otherwise each piece contains
// the texts that its ops use.
bool texts_in_session(const Script& script);

// The numbers of entries in a piece.
struct PieceCounts {
  uint64_t ops = 0;
  uint64_t int32_keys = 0, int64_keys = 0;
  uint64_t varchar_keys = 0, varchar_bytes = 0;
  uint64_t texts = 0, text_bytes = 0;
  uint64_t parameters = 0;
  bool has_strings = false;  // true: a procedure names string keys by their numbers in the pool
};

class PieceWriter {
 public:
  // Borrows the script, which must not change, except for the times of kArrive ops.
  explicit PieceWriter(const Script& script);

  // Returns the end of the longest piece that begins at op `from` and has at most `bytes_max`
  // bytes. A piece ends before an op with kUnitStart, or at the end of the program. If even the
  // shortest piece has more bytes, returns its end.
  uint64_t cut(std::span<const format::Op> ops, uint64_t from, uint64_t bytes_max) const;

  // Returns the size in bytes of the piece with these ops. REQUIRES: no handle is open at the
  // beginning of the piece.
  uint64_t size_bytes(std::span<const format::Op> ops) const;

  // Returns the piece with these ops. `last` is true if the thread has no further piece in the
  // phase. REQUIRES: no handle is open at the beginning of the piece.
  std::vector<std::byte> write(std::span<const format::Op> ops, bool last) const;

 private:
  class Counter;
  class Filler;
  template <typename Pools>
  class Converter;

  PieceCounts count(std::span<const format::Op> ops) const;
  std::span<const int64_t> parameters_of(const format::Op& run) const;

  const Script& script_;
  const bool with_texts_;
  std::vector<uint32_t> run_starts_;  // number of the first parameter of each kRun op, ascending
  // By procedure: bit s is 1 if the procedure names keys by number in calls through slot s, a
  // variable of the thread for a handle.
  std::vector<uint32_t> slots_by_number_;
};

}  // namespace keydrome::script
