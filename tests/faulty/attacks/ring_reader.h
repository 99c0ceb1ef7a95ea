// RingReader: reads the operations of a phase before the player, the program that calls the
// library, executes them. They arrive in pieces, two at a time, in memory that the player shares
// with the referee, the process that generates them (harness/ring.h).
//
// It follows only the gets of integer keys, in a session with one thread.
//
// Thread safety: for the only thread of the session.
#pragma once

#include <cstdint>

#include "benchmarks/kit/format/piece.h"
#include "benchmarks/kit/format/program.h"
#include "harness/ring.h"

namespace attacks {

// The next get among the player's operations.
struct NextGet {
  int64_t key;
  const keydrome::format::Op* op;
};

class RingReader {
 public:
  // Searches for the ring near this library's code. Takes up to 0.1 s, and reads memory that other
  // code of the process owns. Returns false if there is no ring.
  bool find_ring();

  // Moves to the next get that is in the ring. Returns false if no further piece is there yet.
  bool next(NextGet& get);

  // Moves to the next get if it has this key. Otherwise a new phase may have begun, so it moves to
  // the first get with this key among the first gets of the phase. Returns false, and does not
  // move, if there is no such get, for example because the player repeats a get.
  bool expect(int64_t key, NextGet& get);

  // Returns the number of the piece that contains the last get.
  uint32_t piece_number() const { return number_; }

 private:
  bool restart_at(int64_t key, NextGet& get);
  // Moves to the first op of a piece. Returns false if the piece is not there yet.
  bool enter(uint32_t number);
  const keydrome::format::PieceHeader* piece(uint32_t number) const;

  const keydrome::RingHeader* ring_ = nullptr;
  // The current piece, up to its last get. After this get a later piece may replace all of it.
  uint32_t number_ = 0;
  const keydrome::format::Op* ops_ = nullptr;
  const int64_t* keys_ = nullptr;
  uint64_t key_count_ = 0;
  uint64_t op_ = 0;     // the next op
  uint64_t count_ = 0;  // ops up to the last get
  bool is_last_ = false;
};

}  // namespace attacks
