// Implements content.h: reads and changes the pairs (key and payload) of an index through its
// Store, and undoes changes.
#include "runtime/content/content.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace keydrome::runtime {

Bound bound_of(const Cursor& cursor) {
  switch (cursor.place) {
    case Cursor::Place::kStart:
      break;
    case Cursor::Place::kAfterPair:
      return {cursor.key_bytes(), cursor.payload_bytes(), true};
    case Cursor::Place::kAfterKey:
      return after_key(cursor.key_bytes());
  }
  return before_key({"", 0});
}

int compare(KeydromeBytes a, KeydromeBytes b) {
  const uint32_t common = std::min(a.size, b.size);
  const int order = common == 0 ? 0 : std::memcmp(a.data, b.data, common);
  if (order != 0) return order;
  return static_cast<int>(a.size > b.size) - static_cast<int>(a.size < b.size);
}

int seek(const Store& store, KeydromePosition& position, const Bound& bound) {
  return store.seek(position, bound.key, bound.payload, bound.after ? 1 : 0);
}

int read_next(const Store& store, KeydromePosition& position, Pair& pair) {
  KeydromeBuffer key{pair.key_data, 0, sizeof pair.key_data};
  KeydromeBuffer payload{pair.payload_data, 0, sizeof pair.payload_data};
  const int found = store.next(position, key, payload);
  if (found <= 0) return found;
  if (key.size > sizeof pair.key_data || payload.size > sizeof pair.payload_data) return -1;
  pair.key_size = key.size;
  pair.payload_size = payload.size;
  return 1;
}

int read_first(const Store& store, const Bound& bound, Pair& pair) {
  KeydromePosition position;
  if (seek(store, position, bound) < 0) return -1;
  return read_next(store, position, pair);
}

void declare_broken(Index& index) {
  Content& content = content_of(index);
  if (content.broken) return;
  content.broken = true;
  std::fprintf(stderr,
               "keydrome runtime: index %s: memory ran out while a change was being undone, so the "
               "content is wrong. Every call on this index returns FAILURE from now on. Give the "
               "run more memory.\n",
               index.name().c_str());
}

int refresh(const Content& content, const Store& store, Cursor& cursor) {
  if (cursor.has_position && cursor.changes == content.changes) return 0;
  cursor.has_position = false;
  if (seek(store, cursor.position, bound_of(cursor)) < 0) return -1;
  cursor.has_position = true;
  cursor.changes = content.changes;
  return 0;
}

void place_on(Cursor& cursor, const Pair& pair) {
  cursor.place = Cursor::Place::kAfterPair;
  cursor.set_key(pair.key());
  cursor.set_payload(pair.payload());
}

ErrCode read_key(Index& index, Cursor& cursor, KeydromeBytes key) {
  const Content& content = content_of(index);
  const Store& store = index.store();
  Pair pair;
  cursor.has_position = false;
  if (content.broken || seek(store, cursor.position, before_key(key)) < 0) return FAILURE;
  const int found = read_next(store, cursor.position, pair);
  if (found < 0) return FAILURE;
  if (found == 1 && equal(pair.key(), key)) {
    cursor.has_position = true;
    cursor.changes = content.changes;
    place_on(cursor, pair);
    return SUCCESS;
  }
  // The position is after a pair of another key, so the next read must seek. A copy of the position
  // from before read_next() would avoid this seek. But the copy would slow down every get: its wide
  // loads must wait until the narrower stores of seek() have reached the cache.
  cursor.place = Cursor::Place::kAfterKey;
  cursor.set_key(key);
  return KEY_NOTFOUND;
}

ErrCode change(UndoLog& undo, Index& index, bool insertion, KeydromeBytes key,
               KeydromeBytes payload) {
  try {
    undo.reserve(key, payload);
  } catch (const std::bad_alloc&) {
    return FAILURE;
  }
  const int changed = insertion ? index.store().put(key, payload) : index.store().del(key, payload);
  if (changed < 0) return FAILURE;
  if (changed == 0) return insertion ? ENTRY_EXISTS : ENTRY_DNE;
  ++content_of(index).changes;
  undo.append({&index, insertion, key, payload});
  return SUCCESS;
}

ErrCode erase_payloads(UndoLog& undo, Index& index, KeydromeBytes key) {
  const size_t mark = undo.mark();
  Pair victim;
  for (;;) {
    const int found = read_first(index.store(), before_key(key), victim);
    if (found == 0 || (found == 1 && !equal(victim.key(), key))) break;
    if (found < 0 || change(undo, index, false, victim.key(), victim.payload()) != SUCCESS) {
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
    ++content.changes;
    const int undone = change.inserted ? store.del(change.key, change.payload)
                                       : store.put(change.key, change.payload);
    if (undone == 1 || content.broken) continue;
    declare_broken(*change.index);
    complete = false;
  }
  return complete;
}

}  // namespace keydrome::runtime
