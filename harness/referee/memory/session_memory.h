// SessionMemory: the memory that referee and player share in one session (one repetition of a
// benchmark). The referee is the trusted process that runs the session. The player is the jailed
// process with the library under test. The memory has three parts:
// - the ring: the referee writes the programs (lists of operations), and the player reads them
// - the outcome: the player writes its results
// - the stack page: the player's threads write their stacks when a session hangs or crashes
//
// A thread receives its program in pieces, so the class also cuts the programs of all phases into
// pieces.
//
// Ring and outcome are as large as the largest phase needs. The player maps them before it loads
// the library, so that no timed phase has to map anything. Most of the outcome is for the scan of
// all records at the end. Before the scan, no pages are allocated for this part. If the library
// wrote to it, the kernel would charge the pages to the library's cgroup.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "benchmarks/kit/script/outcome_layout.h"
#include "benchmarks/kit/script/piece_writer.h"
#include "benchmarks/kit/script/script.h"
#include "harness/referee/memory/input_ring.h"
#include "harness/referee/memory/memfd.h"
#include "harness/referee/memory/piece_supply.h"

namespace keydrome {

// Descriptors of the memory that the referee shares with the processes of a session.
struct SharedMemory {
  int stack_page = -1;
  int ring = -1;
  int outcome = -1;
};

// Returns the largest number of threads that a phase of the script (all inputs of the session) has,
// at least 1.
uint32_t threads_max(const script::Script& script);

class SessionMemory {
 public:
  // Borrows the script. Use no other function before create() has succeeded.
  explicit SessionMemory(const script::Script& script) : script_(script), writer_(script) {}
  Result<void> create();

  SharedMemory descriptors() const;
  std::span<const std::byte> stack_page() const { return stacks_->bytes(); }

  // Prepares the outcome for a phase and returns its bytes. Usually clears them except for the
  // traces, i.e. the lists of whole results (clear_outcome() in outcome_layout.h). If the session
  // ends with a scan of all records, clears the whole outcome, also the traces and the bytes that
  // this phase does not use. Otherwise the library could keep records there, in memory for which it
  // is not charged. REQUIRES: no thread of the player executes operations.
  Result<std::span<std::byte>> begin_outcome(uint32_t phase, const script::OutcomeLayout& layout);
  // Copies the first piece of each thread into the ring. REQUIRES: no thread of the player executes
  // operations.
  PieceSupply begin_pieces(uint32_t phase);

 private:
  const script::Script& script_;
  const script::PieceWriter writer_;
  std::vector<PiecePlan> plans_;  // by phase
  std::vector<std::byte> session_image_;
  std::optional<InputRing> ring_;
  std::optional<SharedRegion> outcome_, stacks_;
  bool scans_ = false;  // true: the session ends with a scan of all records
};

}  // namespace keydrome
