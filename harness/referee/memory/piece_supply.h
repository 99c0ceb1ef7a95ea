// Supplies the threads of a phase with their pieces (format/program.h), and makes the pieces before
// they are needed.
//
// A piece is a portion of one thread's program (its list of operations), with the keys of these
// operations. The player, the jailed process, receives piece n + 1 when the thread begins piece n.
// So the untrusted library, which shares the player's process, cannot read far ahead.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "benchmarks/kit/script/piece_writer.h"
#include "benchmarks/kit/script/script.h"
#include "harness/referee/memory/input_ring.h"

namespace keydrome {

// Where the programs of a phase are cut: piece p of thread t has the operations (ops) from number
// cuts[t][p] to number cuts[t][p + 1] - 1. Every thread has at least one piece.
struct PiecePlan {
  std::vector<std::vector<uint64_t>> cuts;
  std::vector<std::vector<uint64_t>> bytes;  // size of each piece
  std::vector<uint64_t> bytes_max;           // size of the largest piece, by thread
};

// Cuts a phase into pieces of at most about `bytes` bytes. A piece can begin only at an op with the
// flag kUnitStart, where the thread has no handle and no transaction open (format/program.h). So a
// program without such ops is one piece. Uses several CPUs.
PiecePlan plan_pieces(const script::PieceWriter& writer, const script::PhaseScript& phase,
                      uint64_t bytes);

class PieceSupply {
 public:
  // Borrows all arguments.
  PieceSupply(const script::PieceWriter& writer, const script::PhaseScript& phase,
              const PiecePlan& plan, InputRing& ring);

  uint32_t threads() const { return static_cast<uint32_t>(ready_.size()); }
  // Returns the number of the thread's pieces in this phase.
  uint32_t pieces(uint32_t thread) const {
    return static_cast<uint32_t>(plan_.cuts[thread].size()) - 1;
  }
  // Returns true if the threads may end before their last piece.
  bool may_end_early() const { return script::ends_by_clock(phase_); }
  // Returns how many pieces the thread has received.
  uint32_t published(uint32_t thread) const { return ring_.filled(thread); }

  // Makes pieces until the waiting ones together have 512 MiB, or until all are made. Then
  // publishes the first piece of each thread, i.e. copies it into the ring (the memory shared with
  // the player). Uses several CPUs. REQUIRES: no thread of the player executes operations.
  void begin();
  // Publishes the thread's next piece. REQUIRES: published(thread) < pieces(thread).
  void publish(uint32_t thread);

 private:
  // Makes the thread's next piece.
  void build(uint32_t thread);
  // Returns, for each thread, the number of pieces that begin() makes.
  std::vector<uint32_t> count_first();

  const script::PieceWriter& writer_;
  const script::PhaseScript& phase_;
  const PiecePlan& plan_;
  InputRing& ring_;
  std::vector<std::deque<std::vector<std::byte>>> ready_;  // by thread
  std::vector<uint32_t> built_;                            // by thread
  uint64_t ready_bytes_ = 0;  // of the pieces that are made and not published
};

}  // namespace keydrome
