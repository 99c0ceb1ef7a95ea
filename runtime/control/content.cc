#include "runtime/control/content.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "runtime/control/mutant.h"

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
  if (mutant_strikes<9>(5000)) store.next(position, key, payload);
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
               "keydrome runtime: index %s: a change could not be undone for want of memory; the "
               "index answers FAILURE from now on. Give the run more memory.\n",
               index.name().c_str());
}

// Only for a mutant: whether the pair that the cursor stands on has been deleted.
static bool is_gone(const Store& store, const Cursor& cursor) {
  Pair pair;
  return cursor.place == Cursor::Place::kAfterPair &&
         !(read_first(store, {cursor.key_bytes(), cursor.payload_bytes(), false}, pair) == 1 &&
           equal(pair.key(), cursor.key_bytes()) && equal(pair.payload(), cursor.payload_bytes()));
}

int refresh(const Content& content, const Store& store, Cursor& cursor) {
  if (cursor.has_position && (mutant(31) || cursor.changes == content.changes)) return 0;
  if (mutant(38) && is_gone(store, cursor)) cursor.reset();
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
  // The position is behind another pair: the next read seeks. A copy from before the read would
  // wait for the stores of the seek, which are narrower, at every get.
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

// Only for a mutant.
static void undo_forward(UndoLog& undo) {
  struct Copy {
    Index* index;
    bool inserted;
    Pair pair;
  };
  std::vector<Copy> changes;
  for (; !undo.empty_beyond(0); undo.drop_newest()) {
    const Change change = undo.newest();
    changes.push_back({change.index, change.inserted, {}});
    changes.back().pair.set(change.key, change.payload);
  }
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    const WriteLatch latch(content_of(*change->index).latch);
    ++content_of(*change->index).changes;
    Store& store = change->index->store();
    if (change->inserted) store.del(change->pair.key(), change->pair.payload());
    if (!change->inserted) store.put(change->pair.key(), change->pair.payload());
  }
}

bool undo_to(UndoLog& undo, size_t mark, bool latched) {
  if (mutant(29) && !latched) undo_forward(undo);
  bool complete = true;
  for (; !undo.empty_beyond(mark); undo.drop_newest()) {
    const Change change = undo.newest();
    Content& content = content_of(*change.index);
    WriteLatch latch(content.latch, std::defer_lock);
    if (!latched) latch.lock();
    Store& store = change.index->store();
    ++content.changes;
    if (change.inserted && mutant_strikes<7>(2)) continue;
    if (!change.inserted && mutant_strikes<8>(2)) continue;
    const int undone = change.inserted ? store.del(change.key, change.payload)
                                       : store.put(change.key, change.payload);
    if (undone == 1 || content.broken) continue;
    declare_broken(*change.index);
    complete = false;
  }
  return complete;
}

}  // namespace keydrome::runtime
