// Implements content.h: reads and changes the pairs (key and payload) of an index through its
// Store, and undoes changes.
#include "runtime/content/content.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace keydrome::runtime {

Bound bound_of(const Store& store, const Cursor& cursor) {
  switch (cursor.place) {
    case Cursor::Place::kStart:
      break;
    case Cursor::Place::kAfterPair:
      return {cursor.key_bytes(), cursor.payload_bytes(), true};
    case Cursor::Place::kAfterKey:
      return after_key(cursor.key_bytes());
  }
  return before_key(store.smallest_key());
}

int compare(KeydromeBytes a, KeydromeBytes b) {
  const uint32_t common = std::min(a.size, b.size);
  const int order = common == 0 ? 0 : std::memcmp(a.data, b.data, common);
  if (order != 0) return order;
  return static_cast<int>(a.size > b.size) - static_cast<int>(a.size < b.size);
}

int read_first(const Store& store, const Bound& bound, Pair& pair) {
  KeydromeRun run = pair.as_run();
  if (store.scan(bound, run) < 0 || run.pairs > 1) return -1;
  if (run.pairs == 0) return 0;
  const bool sound = pair.key().size <= KEYDROME_KEY_BYTES_MAX &&
                     pair.payload().size <= KEYDROME_PAYLOAD_BYTES_MAX;
  return sound ? 1 : -1;  // the structure has returned wrong bytes
}

void declare_broken(Index& index) {
  Content& content = content_of(index);
  if (content.broken) return;
  content.broken = true;
  std::fprintf(
      stderr,
      "keydrome runtime: index %s: the structure could not undo a change, so the content is "
      "wrong. Every call on this index returns FAILURE from now on. Run again with more memory "
      "(keydrome bench: --memory GIB); if this message appears again, correct the structure's put "
      "and del.\n",
      index.name().c_str());
}

int peek(const Content& content, const Store& store, Cursor& cursor, KeydromeBytes& key,
         KeydromeBytes& payload) {
  refresh(content, cursor);
  return cursor.run.peek(store, bound_of(store, cursor), key, payload);
}

void place_on(Cursor& cursor, KeydromeBytes key, KeydromeBytes payload) {
  cursor.place = Cursor::Place::kAfterPair;
  cursor.set_key(key);
  cursor.set_payload(payload);
}

ErrCode read_key(Index& index, Cursor& cursor, KeydromeBytes key) {
  if (content_of(index).broken) return FAILURE;
  cursor.run.drop();
  return find_key(index.store(), cursor, key);
}

ErrCode change(UndoLog& undo, Index& index, bool insertion, KeydromeBytes key,
               KeydromeBytes payload) {
  try {
    undo.reserve(key, payload);
  } catch (const std::bad_alloc&) {
    return FAILURE;
  }
  if (insertion && !index.store().has_room(key, payload)) return FAILURE;
  const int changed = insertion ? index.store().put(key, payload) : index.store().del(key, payload);
  if (changed < 0) return FAILURE;
  if (changed == 0) return insertion ? ENTRY_EXISTS : ENTRY_DNE;
  content_of(index).changed();
  undo.append({&index, insertion, key, payload});
  return SUCCESS;
}

ErrCode replace(UndoLog& undo, Index& index, KeydromeBytes key, KeydromeBytes before,
                KeydromeBytes now) {
  if (!index.store().replaces()) {
    const ErrCode deleted = change(undo, index, false, key, before);
    return deleted == SUCCESS ? change(undo, index, true, key, now) : deleted;
  }
  try {
    undo.reserve(key, before, now);
  } catch (const std::bad_alloc&) {
    return FAILURE;
  }
  if (index.store().replace(key, before, now) != 1) return FAILURE;
  content_of(index).changed();
  undo.append({&index, false, key, before});
  undo.append({&index, true, key, now});
  return SUCCESS;
}

ErrCode erase_payloads(UndoLog& undo, Index& index, KeydromeBytes key) {
  const size_t mark = undo.mark();
  uint8_t bytes[KEYDROME_PAYLOAD_BYTES_MAX];
  KeydromeBuffer victim{bytes, 0, sizeof bytes};
  for (;;) {
    const int found = index.store().find(key, kAnyPayload, victim);
    if (found == 0) break;
    if (found < 0 || change(undo, index, false, key, {bytes, victim.size}) != SUCCESS) {
      undo_to(undo, mark, true);
      return FAILURE;
    }
  }
  return undo.empty_beyond(mark) ? KEY_NOTFOUND : SUCCESS;
}

bool undo_to(UndoLog& undo, size_t mark, bool latched) {
  bool complete = true;
  for (; !undo.empty_beyond(mark); undo.drop_newest()) {
    const Change change = undo.newest();
    Content& content = content_of(*change.index);
    WriteLatch latch(content.latch, std::defer_lock);
    if (!latched) latch.lock();
    Store& store = change.index->store();
    content.changed();
    const int undone = change.inserted ? store.del(change.key, change.payload)
                                       : store.put(change.key, change.payload);
    if (undone == 1 || content.broken) continue;
    declare_broken(*change.index);
    complete = false;
  }
  return complete;
}

}  // namespace keydrome::runtime
