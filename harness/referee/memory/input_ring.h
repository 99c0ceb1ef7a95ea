// InputRing: the referee's side of the ring (harness/ring.h). The ring is shared memory. Through
// the ring the referee (the trusted process) passes operations to the threads of the player (the
// jailed process). The operations of a thread come in pieces. Each thread has two halves of equal
// size in the ring: the thread plays the piece in one half while the referee writes the next piece
// into the other half.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "harness/referee/memory/memfd.h"
#include "harness/ring.h"

namespace keydrome {

class InputRing {
 public:
  // Makes the ring of a session, one repetition of a benchmark. `half_bytes` contains, for each
  // thread, the size of a half.
  static Result<InputRing> create(uint64_t session_bytes, std::span<const uint64_t> half_bytes);

  int fd() const { return region_.fd(); }

  // Writes the session's image: what all programs share, such as the names of the indexes.
  // REQUIRES: the image has the size that create() received, and no phase has begun.
  void write_session(std::span<const std::byte> image);
  // Prepares a phase: no thread has a piece afterwards. REQUIRES: no thread of the player executes
  // operations.
  void clear();
  // Copies the next piece of a thread, publishes it and wakes the thread. REQUIRES: the piece fits
  // into a half, and the thread does not use that half.
  void publish(uint32_t thread, std::span<const std::byte> piece);
  // Returns the number of pieces that were published to the thread in this phase.
  uint32_t filled(uint32_t thread) const;

 private:
  explicit InputRing(SharedRegion region) : region_(std::move(region)) {}
  RingHeader& header() const { return *reinterpret_cast<RingHeader*>(region_.bytes().data()); }

  SharedRegion region_;
};

}  // namespace keydrome
