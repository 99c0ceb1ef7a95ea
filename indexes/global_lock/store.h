// Sorted pairs, and the log that takes changes back.
//
// Thread safety: none; the caller holds the library's data lock.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "keydrome/index.h"

namespace keydrome {

// An encoded key (indexes/common/key_bytes.h) and a payload without its NUL.
struct Pair {
  std::string key;
  std::string payload;
};

// A pair borrowed for a search.
struct PairView {
  PairView(std::string_view key_bytes, std::string_view payload_bytes)
      : key(key_bytes), payload(payload_bytes) {}
  PairView(const Pair& pair) : key(pair.key), payload(pair.payload) {}  // NOLINT: a Pair is one

  std::string_view key;
  std::string_view payload;
};

// A place behind every pair of a key, and before every pair of a greater one.
struct AfterKey {
  std::string_view key;
};

struct PairOrder {
  using is_transparent = void;
  bool operator()(const PairView& a, const PairView& b) const {
    const int order = a.key.compare(b.key);
    return order != 0 ? order < 0 : a.payload < b.payload;
  }
  bool operator()(const Pair& a, const AfterKey& b) const { return a.key <= b.key; }
  bool operator()(const AfterKey& a, const Pair& b) const { return a.key < b.key; }
};

using Pairs = std::set<Pair, PairOrder>;

// Indexes live as long as the process.
struct Index {
  explicit Index(KeyType key_type) : type(key_type) {}

  const KeyType type;
  Pairs pairs;
};

// The changes of one open transaction, in order.
class UndoLog {
 public:
  [[nodiscard]] bool empty() const { return changes_.empty(); }
  // Makes room, so that the next `count` notes cannot fail. Throws std::bad_alloc.
  void reserve(size_t count);
  void note_insert(Index& index, const Pair& pair);
  void note_delete(Index& index, Pairs::node_type&& node);
  // Takes every change back, the newest first, and forgets them. Allocates nothing.
  void roll_back();
  // Forgets every change, and with it the pairs that were deleted.
  void forget() { changes_.clear(); }

 private:
  struct Change {
    Index* index;
    const Pair*
        inserted;  // nullptr for a delete; valid while the set or another change holds the node
    Pairs::node_type deleted;  // empty for an insert
  };
  std::vector<Change> changes_;
};

// SUCCESS, ENTRY_EXISTS. `undo` is nullptr when the change commits at once.
ErrCode insert_pair(Index& index, UndoLog* undo, std::string_view key, std::string_view payload);
// SUCCESS, ENTRY_DNE.
ErrCode delete_pair(Index& index, UndoLog* undo, std::string_view key, std::string_view payload);
// Deletes every pair of the key. SUCCESS, KEY_NOTFOUND.
ErrCode delete_key(Index& index, UndoLog* undo, std::string_view key);

}  // namespace keydrome
