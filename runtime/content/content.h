// Functions that read and change the pairs (key and payload) of an index through its Store, the
// interface to the index's data structure. Every concurrency control uses them.
//
// Thread safety: the caller holds the index's latch: shared to read, exclusive to change. The
// exception is `undo_to`, which takes the latches itself unless `latched` is true. A latch of kind
// kNone does nothing. Then the index is protected by a lock of the transaction (index_2pl.cc), or
// it has a single client thread, or its structure is thread-safe (none.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "keydrome/index.h"
#include "keydrome/structure.h"
#include "runtime/concurrency/concurrency.h"
#include "runtime/content/cursor.h"
#include "runtime/content/pair.h"
#include "runtime/content/undo_log.h"
#include "runtime/index.h"
#include "runtime/locks/latch.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

// The data that every concurrency control keeps for an index. Some concurrency controls derive from
// this struct to add members.
struct Content : IndexConcurrency {
  explicit Content(LatchKind kind) : latch(kind) {}

  // Notes a change, which makes the runs of cursors invalid (run.h: pairs that were copied in
  // advance). Only one thread at a time may call this function, because its load and its store are
  // separate steps.
  void changed() { changes.store(changes.load(kRelaxed) + 1, kRelaxed); }

  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

  Latch latch;
  // Relaxed accesses suffice for the members below: the latch, or a lock of the transaction, orders
  // a change before later reads. Without both, the index has a single client thread, or the members
  // never change (none.cc).
  std::atomic<uint64_t> changes = 0;  // number of changes so far
  // True if memory ran out during an undo. The content of the index is then wrong, and every
  // further call on the index returns FAILURE.
  std::atomic<bool> broken = false;
};

inline Content& content_of(Index& index) { return static_cast<Content&>(index.concurrency()); }

// Returns the place from which the next read with the cursor continues.
Bound bound_of(const Store& store, const Cursor& cursor);

// Compares two keys or two payloads byte by byte, as memcmp does. If one is a prefix of the other,
// the shorter one is less. Returns a negative number if a < b, 0 if they are equal, and a positive
// number if a > b.
int compare(KeydromeBytes a, KeydromeBytes b);
inline bool equal(KeydromeBytes a, KeydromeBytes b) {
  return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
}

// Finds the first pair at or after the bound. Returns 1 if there is a pair, 0 if there is none, or
// a negative number for a failure.
int read_first(const Store& store, const Bound& bound, Pair& pair);

// Marks the index as broken: every later call on it returns FAILURE. Prints one message on stderr
// per index.
void declare_broken(Index& index);

// Drops the cursor's run if the index has changed since the run was read.
inline void refresh(const Content& content, Cursor& cursor) {
  const uint64_t changes = content.changes.load(Content::kRelaxed);
  if (cursor.changes == changes) return;
  cursor.run.drop();
  cursor.changes = changes;
}
// Finds the pair that follows the cursor, and does not move the cursor. Returns 1 if there is a
// pair, 0 at the end, or a negative number for a failure. Key and payload are valid until the
// cursor's next call.
int peek(const Content& content, const Store& store, Cursor& cursor, KeydromeBytes& key,
         KeydromeBytes& payload);
// Moves the cursor to the pair. The caller must also ensure that the cursor's run, if it has pairs
// left, continues directly after the pair.
void place_on(Cursor& cursor, KeydromeBytes key, KeydromeBytes payload);
// Moves the cursor to the pair that the last peek() found.
inline void advance(Cursor& cursor, KeydromeBytes key, KeydromeBytes payload) {
  place_on(cursor, key, payload);
  cursor.run.pass();
}
// Finds the first pair of the key and moves the cursor, as `get` of index.h specifies. The caller
// has dropped the cursor's run. The function is inlined, because it is most of what a get costs
// beyond the structure.
[[gnu::always_inline]] inline ErrCode find_key(const Store& store, Cursor& cursor,
                                               KeydromeBytes key) {
  KeydromeBuffer payload{cursor.payload, 0, sizeof cursor.payload};
  const int found = store.find(key, kAnyPayload, payload);
  if (found < 0 || payload.size > sizeof cursor.payload) [[unlikely]] {
    cursor.reset();
    return FAILURE;
  }
  cursor.set_key(key);
  cursor.payload_size = payload.size;
  cursor.place = found == 1 ? Cursor::Place::kAfterPair : Cursor::Place::kAfterKey;
  return found == 1 ? SUCCESS : KEY_NOTFOUND;
}
// Like find_key, but drops the run itself, and returns FAILURE if the index is broken.
ErrCode read_key(Index& index, Cursor& cursor, KeydromeBytes key);

// Inserts the pair if `insertion` is true, deletes it otherwise, and records the change in the undo
// log. Returns SUCCESS, ENTRY_EXISTS, ENTRY_DNE, or FAILURE if memory ran out.
ErrCode change(UndoLog& undo, Index& index, bool insertion, KeydromeBytes key,
               KeydromeBytes payload);
// Replaces (key, before), which the index has, by (key, now), which it does not have. Returns
// SUCCESS, or FAILURE if memory ran out. If it fails, the undo log contains the changes that must
// be undone.
ErrCode replace(UndoLog& undo, Index& index, KeydromeBytes key, KeydromeBytes before,
                KeydromeBytes now);
// Deletes all payloads of the key. Returns SUCCESS or KEY_NOTFOUND. If the structure fails, first
// undoes the deletions and then returns FAILURE.
ErrCode erase_payloads(UndoLog& undo, Index& index, KeydromeBytes key);
// Rolls back all changes that were logged after the mark, newest first. `latched` is true if the
// caller holds the latches of the indexes. Returns false if memory ran out; the index is then
// broken.
bool undo_to(UndoLog& undo, size_t mark, bool latched = false);

}  // namespace keydrome::runtime
