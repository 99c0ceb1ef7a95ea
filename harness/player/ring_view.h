// RingView: the player's side of the ring (harness/ring.h). The ring is the memory through which
// the referee, the trusted process, passes programs (lists of operations) to the player, the
// process in the jail (sandbox). A program arrives in portions, called pieces.
//
// Thread safety: each thread reads its own pieces; any thread may read the image of the session
// (one repetition of a benchmark).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/ring.h"

namespace keydrome {

class RingView {
 public:
  // Borrows the memory of the ring.
  explicit RingView(std::span<const std::byte> ring) : ring_(ring) {}

  // Returns the session's image: what all programs share, such as the names of the indexes.
  // REQUIRES: a GO message, which begins a phase, has been received.
  std::span<const std::byte> session() const {
    return ring_.subspan(header().session_offset, header().session_bytes);
  }

  // Returns true if the thread has received piece number `number` of the phase.
  bool has(uint32_t thread, uint32_t number) const;

  // Waits until the thread has received piece number `number` of the phase. Returns one of the
  // thread's two halves of the ring; the piece is at its beginning. The memory is valid until the
  // thread asks for piece `number` + 2, which overwrites the piece.
  std::span<const std::byte> await(uint32_t thread, uint32_t number) const;

 private:
  const RingHeader& header() const { return *reinterpret_cast<const RingHeader*>(ring_.data()); }

  std::span<const std::byte> ring_;
};

}  // namespace keydrome
