// Stores the sorted pairs of an index, and the undo log of a transaction, for the library
// global_lock.
//
// Thread safety: none. The caller must hold the lock that guards the pairs of all indexes
// (Library::data_lock in library.cc).
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

// A pair to search for. Does not copy the bytes, which must stay valid during the search.
struct PairView {
  PairView(std::string_view key_bytes, std::string_view payload_bytes)
      : key(key_bytes), payload(payload_bytes) {}
  // The conversion is implicit, so that PairOrder also compares the pairs of the set.
  PairView(const Pair& pair) : key(pair.key), payload(pair.payload) {}  // NOLINT

  std::string_view key;
  std::string_view payload;
};

// A search position after all pairs of `key` and before all pairs of larger keys.
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

// An index. Exists until the process ends.
struct Index {
  explicit Index(KeyType key_type) : type(key_type) {}

  const KeyType type;
  Pairs pairs;
};

// The changes of one open transaction, in order, so that abort can undo them.
class UndoLog {
 public:
  [[nodiscard]] bool empty() const { return changes_.empty(); }
  // Reserves room for `count` changes, so that logging them cannot fail. Throws std::bad_alloc.
  void reserve(size_t count);
  void log_insert(Index& index, const Pair& pair);
  void log_delete(Index& index, Pairs::node_type&& node);
  // Undoes all changes, the newest change first. Allocates no memory, so it cannot fail.
  void roll_back();
  // Forgets all changes, and frees the deleted pairs.
  void forget() { changes_.clear(); }

 private:
  struct Change {
    Index* index;
    // The inserted pair, or nullptr for a delete. The pointer is valid as long as the node of the
    // pair exists, either in the set or in a later change that deletes the pair.
    const Pair* inserted;
    Pairs::node_type deleted;  // the deleted node; empty for an insert
  };
  std::vector<Change> changes_;
};

// Inserts a pair. Returns SUCCESS or ENTRY_EXISTS. This function and the next two log their change
// in `undo`. Auto-commit calls pass nullptr, and nothing is logged.
ErrCode insert_pair(Index& index, UndoLog* undo, std::string_view key, std::string_view payload);
// Deletes one pair. Returns SUCCESS or ENTRY_DNE.
ErrCode delete_pair(Index& index, UndoLog* undo, std::string_view key, std::string_view payload);
// Deletes all pairs of the key. Returns SUCCESS or KEY_NOTFOUND.
ErrCode delete_key(Index& index, UndoLog* undo, std::string_view key);

}  // namespace keydrome
