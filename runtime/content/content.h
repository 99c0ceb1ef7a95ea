// Functions that read and change the pairs (key and payload) of an index through its Store, the
// interface to the index's data structure. Every concurrency control uses them.
//
// Thread safety: the caller holds the index's latch: shared to read, exclusive to change. The
// exception is `undo_to`, which takes the latches itself unless `latched` is true.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "keydrome/index.h"
#include "keydrome/structure.h"
#include "runtime/concurrency/concurrency.h"
#include "runtime/content/cursor.h"
#include "runtime/content/undo_log.h"
#include "runtime/index.h"
#include "runtime/locks/latch.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

// The data that every concurrency control keeps for an index. Some concurrency controls derive from
// this struct to add members.
struct Content : IndexConcurrency {
  explicit Content(LatchKind kind) : latch(kind) {}

  Latch latch;
  uint64_t changes = 0;  // number of changes so far; a change makes stored positions invalid
  // True after memory ran out during an undo, which leaves wrong content in the index. From then on
  // every call on the index returns FAILURE.
  bool broken = false;
};

inline Content& content_of(Index& index) { return static_cast<Content&>(index.concurrency()); }

// Use this as the payload of a Bound to place the Bound before all payloads of its key or, if
// `after` is true, after all of them.
inline constexpr KeydromeBytes kAnyPayload{nullptr, 0};

// A position between two pairs of the sorted index. If `after` is false, the position is before the
// first pair >= (key, payload). If `after` is true, it is before the first pair > (key, payload).
// The struct does not own the bytes.
struct Bound {
  KeydromeBytes key;
  KeydromeBytes payload;
  bool after;
};

inline Bound before_key(KeydromeBytes key) { return {key, kAnyPayload, false}; }
inline Bound after_key(KeydromeBytes key) { return {key, kAnyPayload, true}; }
Bound bound_of(const Cursor& cursor);

// Compares two keys or two payloads byte by byte, as memcmp does. If one is a prefix of the other,
// the shorter one is less. Returns a negative number if a < b, 0 if they are equal, and a positive
// number if a > b.
int compare(KeydromeBytes a, KeydromeBytes b);
inline bool equal(KeydromeBytes a, KeydromeBytes b) {
  return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
}

// A key and a payload. The struct has its own copy of the bytes.
struct Pair {
  uint32_t key_size = 0;
  uint32_t payload_size = 0;
  uint8_t key_data[KEYDROME_KEY_BYTES_MAX];
  uint8_t payload_data[KEYDROME_PAYLOAD_BYTES_MAX];

  KeydromeBytes key() const { return {key_data, key_size}; }
  KeydromeBytes payload() const { return {payload_data, payload_size}; }
  void set(KeydromeBytes key, KeydromeBytes payload) {
    key_size = key.size;
    if (key.size > 0) std::memcpy(key_data, key.data, key.size);
    payload_size = payload.size;
    if (payload.size > 0) std::memcpy(payload_data, payload.data, payload.size);
  }
};

// Moves the position to the bound. Returns 0, or a negative number for a failure.
int seek(const Store& store, KeydromePosition& position, const Bound& bound);
// Reads the pair after the position and moves the position past it. Returns the result of the
// structure's `next`: 1, 0 at the end, or negative. Returns -1 also if the structure reports a key
// or payload that is too long.
int read_next(const Store& store, KeydromePosition& position, Pair& pair);
// Finds the first pair at or after the bound. Returns 1, 0 if there is none, or a negative number
// for a failure.
int read_first(const Store& store, const Bound& bound, Pair& pair);

// Marks the index as broken: every later call on it returns FAILURE. Prints one message on stderr
// per index.
void declare_broken(Index& index);

// Seeks if the cursor's stored position is missing or out of date. Returns 0, or a negative number
// for a failure.
int refresh(const Content& content, const Store& store, Cursor& cursor);
// Moves the cursor to the pair. The caller must also ensure that the cursor's stored position, if
// it has one, is directly after the pair.
void place_on(Cursor& cursor, const Pair& pair);
// Finds the first pair of the key and moves the cursor, as `get` of index.h specifies.
ErrCode read_key(Index& index, Cursor& cursor, KeydromeBytes key);

// Inserts the pair if `insertion` is true, deletes it otherwise, and records the change in the undo
// log. Returns SUCCESS, ENTRY_EXISTS, ENTRY_DNE, or FAILURE if memory ran out.
ErrCode change(UndoLog& undo, Index& index, bool insertion, KeydromeBytes key,
               KeydromeBytes payload);
// Deletes all payloads of the key. Returns SUCCESS or KEY_NOTFOUND. If the structure fails, first
// undoes the deletions and then returns FAILURE.
ErrCode erase_payloads(UndoLog& undo, Index& index, KeydromeBytes key);
// Rolls back all changes that were logged after the mark, newest first. `latched` is true if the
// caller holds the latches of the indexes. Returns false if memory ran out; the index is then
// broken.
bool undo_to(UndoLog& undo, size_t mark, bool latched = false);

}  // namespace keydrome::runtime
