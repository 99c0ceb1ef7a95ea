// The content of an index as every control reads and changes it: through its store, under its
// latch.
//
// Thread safety: who calls holds the latch, shared to read, exclusively to change. `undo_to` and
// `change_latched` take it themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "keydrome/index.h"
#include "keydrome/structure.h"
#include "runtime/control/control.h"
#include "runtime/control/cursor.h"
#include "runtime/control/latch.h"
#include "runtime/control/undo_log.h"
#include "runtime/index.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

// What each control keeps about an index, at least.
struct Content : IndexControl {
  explicit Content(LatchKind kind) : latch(kind) {}

  Latch latch;
  uint64_t changes = 0;  // puts and deletions so far
  // An undo failed for want of memory: the content is not to be trusted any more.
  bool broken = false;
};

inline Content& content_of(Index& index) { return static_cast<Content&>(index.control()); }

// For a payload's place in a bound: before, or with `after` behind, all payloads of the key.
inline constexpr KeydromeBytes kAnyPayload{nullptr, 0};

// A place in the order of pairs: before the first pair >= (key, payload), or > with `after`. Bytes
// are borrowed.
struct Bound {
  KeydromeBytes key;
  KeydromeBytes payload;
  bool after;
};

inline Bound before_key(KeydromeBytes key) { return {key, kAnyPayload, false}; }
inline Bound after_key(KeydromeBytes key) { return {key, kAnyPayload, true}; }
Bound bound_of(const Cursor& cursor);

// Order of keys and of payloads: as memcmp, the shorter first on a common prefix. Negative, 0,
// positive.
int compare(KeydromeBytes a, KeydromeBytes b);
inline bool equal(KeydromeBytes a, KeydromeBytes b) {
  return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
}

// A pair by value.
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

int seek(const Store& store, KeydromePosition& position, const Bound& bound);
// The pair after the position: what `next` of the structure answers, or -1 when that makes no
// sense.
int read_next(const Store& store, KeydromePosition& position, Pair& pair);
// The first pair from the bound on: 1, 0 for none, negative for a failure.
int read_first(const Store& store, const Bound& bound, Pair& pair);

// The index answers FAILURE from now on, and a line on stderr says so, once.
void declare_broken(Index& index);

// Makes the cursor's position good for the next read: 0, or negative for a failure.
int refresh(const Content& content, const Store& store, Cursor& cursor);
// Puts the cursor on the pair, which its position is behind if it has one.
void place_on(Cursor& cursor, const Pair& pair);
// The first pair of the key, as contract A's get answers and moves the cursor.
ErrCode read_key(Index& index, Cursor& cursor, KeydromeBytes key);

// One put or deletion with its undo record: SUCCESS, ENTRY_EXISTS, ENTRY_DNE, or FAILURE without
// memory.
ErrCode change(UndoLog& undo, Index& index, bool insertion, KeydromeBytes key,
               KeydromeBytes payload);
// Deletes all payloads of the key: SUCCESS, KEY_NOTFOUND, or FAILURE with none deleted.
ErrCode erase_payloads(UndoLog& undo, Index& index, KeydromeBytes key);
// Takes back all changes beyond the mark, newest first; `latched` says that the caller holds the
// latches. False when memory was missing; the index is broken then.
bool undo_to(UndoLog& undo, size_t mark, bool latched = false);

}  // namespace keydrome::runtime
