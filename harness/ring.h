// The ring: the memory through which the referee passes the programs of a session (one repetition
// of a benchmark) to the player. In verified mode the referee passes the programs to the driver, a
// process outside the jail (sandbox) that plays them.
//
// The referee is the trusted process that generates the programs, the lists of operations of all
// threads. The player is the process in the jail that executes them on the library under test. A
// program arrives in pieces: each piece is the next portion of one thread's operations, with their
// keys.
//
// The ring is one memfd. The referee maps it writable and then seals it against every other
// writable mapping (F_SEAL_FUTURE_WRITE). The player maps it read-only, before it loads the
// library, and for the whole session. So nothing has to be mapped while a phase is timed, and
// nothing in the player's process can write to the ring.
//
// The ring contains this header, the session's image and two halves for each thread. The image is
// what all programs of the session share, such as the names of the indexes (PoolsHeader in
// benchmarks/kit/format/program.h). A thread's pieces alternate between its halves: piece n of a
// phase is in half n % 2. Before the message GO begins a phase, while the jail is frozen, the
// referee copies piece 0 of every thread into the ring. When a thread begins piece n, its other
// half is free, and the thread asks for piece n + 1 with the message NEED (harness/protocol.h). No
// thread waits for the pieces of another thread.
//
// Thread safety: `filled` is atomic. While a phase runs, the referee writes only to free halves;
// everything else stays as it is.
#pragma once

#include <atomic>
#include <cstdint>

#include "benchmarks/kit/format/program.h"

namespace keydrome {

// One thread's part of the ring. `filled` is the number of pieces of the phase that the thread has
// received. Only the referee writes the number. The referee stores the number after it has copied a
// piece, and then wakes the thread (FUTEX_WAKE). This release store pairs with the acquire loads in
// RingView::await(). Each number has its own cache line, so that a store for one thread does not
// slow down another thread.
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
  uint64_t session_offset, session_bytes;  // the session's image; written before the first GO
  RingThread thread[format::kThreadsMax];
};

}  // namespace keydrome
