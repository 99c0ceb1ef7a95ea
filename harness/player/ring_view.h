// RingView: the player's side of the ring (harness/ring.h), through which the referee passes the
// programs.
//
// Thread safety: each thread reads its own halves; any thread may read the session's image.
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

  // Returns the session's image. REQUIRES: a GO message has been received.
  std::span<const std::byte> session() const {
    return ring_.subspan(header().session_offset, header().session_bytes);
  }

  // Returns true if the thread has received piece number `number` of the phase.
  bool has(uint32_t thread, uint32_t number) const;

  // Waits until the thread has received piece number `number` of the phase. Returns the half of the
  // ring that begins with the piece. It is valid until the thread asks for piece `number` + 2.
  std::span<const std::byte> await(uint32_t thread, uint32_t number) const;

 private:
  const RingHeader& header() const { return *reinterpret_cast<const RingHeader*>(ring_.data()); }

  std::span<const std::byte> ring_;
};

}  // namespace keydrome
