// Implements store.h: inserts and deletes pairs of an index. Within a transaction, logs each
// change, so that an abort can undo the change.
#include "indexes/global_lock/store.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace keydrome {

void UndoLog::reserve(size_t count) {
  const size_t needed = changes_.size() + count;
  if (needed > changes_.capacity()) changes_.reserve(std::max(needed, 2 * changes_.capacity()));
}

void UndoLog::log_insert(Index& index, const Pair& pair) {
  changes_.push_back({&index, &pair, {}});
}

void UndoLog::log_delete(Index& index, Pairs::node_type&& node) {
  changes_.push_back({&index, nullptr, std::move(node)});
}

void UndoLog::roll_back() {
  while (!changes_.empty()) {
    Change& change = changes_.back();
    if (change.inserted != nullptr) {
      change.index->pairs.erase(change.index->pairs.find(*change.inserted));
    } else {
      change.index->pairs.insert(std::move(change.deleted));
    }
    changes_.pop_back();
  }
}

ErrCode insert_pair(Index& index, UndoLog* undo, std::string_view key, std::string_view payload) {
  if (undo != nullptr) undo->reserve(1);
  const auto [place, inserted] = index.pairs.insert(Pair{std::string(key), std::string(payload)});
  if (!inserted) return ENTRY_EXISTS;
  if (undo != nullptr) undo->log_insert(index, *place);
  return SUCCESS;
}

ErrCode delete_pair(Index& index, UndoLog* undo, std::string_view key, std::string_view payload) {
  const auto place = index.pairs.find(PairView(key, payload));
  if (place == index.pairs.end()) return ENTRY_DNE;
  if (undo != nullptr) undo->reserve(1);
  auto node = index.pairs.extract(place);
  if (undo != nullptr) undo->log_delete(index, std::move(node));
  return SUCCESS;
}

ErrCode delete_key(Index& index, UndoLog* undo, std::string_view key) {
  auto place = index.pairs.lower_bound(PairView(key, {}));
  const auto end = index.pairs.lower_bound(AfterKey{key});
  if (place == end) return KEY_NOTFOUND;
  if (undo == nullptr) {
    index.pairs.erase(place, end);
    return SUCCESS;
  }
  undo->reserve(static_cast<size_t>(std::distance(place, end)));
  while (place != end) {
    const auto next = std::next(place);
    undo->log_delete(index, index.pairs.extract(place));
    place = next;
  }
  return SUCCESS;
}

}  // namespace keydrome
