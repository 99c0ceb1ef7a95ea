// The ring: the memory through which the referee passes the programs of a session to the player, or
// in verified mode to the driver.
//
// The ring is one memfd. The referee maps it writable and then seals it against every other writable
// mapping (F_SEAL_FUTURE_WRITE). The player maps it read-only, before it loads the library, and for
// the whole session. So nothing has to be mapped while a phase is timed, and nothing in the player's
// process can write to the ring.
//
// The ring contains this header, the session's image (format/program.h) and two halves for each
// thread. A thread's pieces alternate between its halves: piece n of a phase is in half n % 2.
// Before GO, while the jail is frozen, the referee copies piece 0 of every thread into the ring.
// When a thread begins piece n, half (n + 1) % 2 is free, and the thread asks for piece n + 1 with
// a NEED message. No thread waits for the pieces of another thread.
//
// Thread safety: `filled` is atomic. Everything else changes only while no phase runs, except for
// free halves.
#pragma once

#include <atomic>
#include <cstdint>

#include "benchmarks/kit/format/program.h"

namespace keydrome {

// How many pieces of the phase a thread has received. Only the referee writes the number. The
// referee stores the number (release) after it has copied a piece, and then wakes the thread
// (FUTEX_WAKE). Each number has its own cache line, so that a store for one thread does not slow
// down another thread.
struct alignas(64) RingThread {
  std::atomic<uint32_t> filled;
  uint32_t reserved;
  uint64_t half_offset[2];  // from the beginning of the ring
  uint64_t half_bytes;
};
static_assert(sizeof(RingThread) == 64);
static_assert(std::atomic<uint32_t>::is_always_lock_free);

struct RingHeader {
  uint32_t version;  // kProgramVersion
  uint32_t threads;
  uint64_t session_offset, session_bytes;  // the session's image; complete since the first GO
  RingThread thread[format::kThreadsMax];
};

}  // namespace keydrome
