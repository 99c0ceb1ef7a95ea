// Implements model.h: checks each result of the library against the model. If the result is
// allowed, updates the model.
#include "indexes/tests/model.h"

namespace keydrome {

bool ModelIndex::accept_get(ModelCursor* cursor, const KeyValue& key, const Read& answer) const {
  const auto place = contents.find(key);
  ModelCursor moved;
  moved.started = true;
  moved.key = key;
  if (place == contents.end()) {
    if (answer.code != KEY_NOTFOUND) return false;
  } else {
    if (answer.code != SUCCESS || answer.key != key) return false;
    moved.must = place->second;
    if (moved.must.erase(answer.payload) == 0) return false;
  }
  if (cursor != nullptr) *cursor = moved;
  return true;
}

bool ModelIndex::accept_step(ModelCursor* cursor, Contents::const_iterator next,
                             const Read& answer) const {
  if (next == contents.end()) return answer.code == DB_END;
  if (answer.code != SUCCESS || answer.key != next->first) return false;
  ModelCursor moved{true, next->first, next->second, {}};
  if (moved.must.erase(answer.payload) == 0) return false;
  if (cursor != nullptr) *cursor = moved;
  return true;
}

bool ModelIndex::accept_next(ModelCursor* cursor, const Read& answer) const {
  if (cursor == nullptr || !cursor->started) {
    return accept_step(cursor, contents.begin(), answer);
  }
  if (answer.code == SUCCESS && answer.key == cursor->key) {
    return cursor->must.erase(answer.payload) + cursor->may.erase(answer.payload) > 0;
  }
  return cursor->must.empty() && accept_step(cursor, contents.upper_bound(cursor->key), answer);
}

bool ModelIndex::accept_insert(ModelCursor* cursor, const KeyValue& key, const std::string& payload,
                               ErrCode answer) {
  const auto place = contents.find(key);
  if (place != contents.end() && place->second.contains(payload)) return answer == ENTRY_EXISTS;
  if (answer != SUCCESS) return false;
  contents[key].insert(payload);
  if (cursor != nullptr && cursor->started && cursor->key == key) cursor->may.insert(payload);
  return true;
}

bool ModelIndex::accept_erase(ModelCursor* cursor, const KeyValue& key, const std::string& payload,
                              ErrCode answer) {
  const auto place = contents.find(key);
  if (place == contents.end()) {
    return answer == KEY_NOTFOUND || (!payload.empty() && answer == ENTRY_DNE);
  }
  if (!payload.empty() && !place->second.contains(payload)) return answer == ENTRY_DNE;
  if (answer != SUCCESS) return false;
  const bool here = cursor != nullptr && cursor->started && cursor->key == key;
  if (payload.empty()) {
    if (here) cursor->must.clear();
    if (here) cursor->may.clear();
    contents.erase(place);
    return true;
  }
  if (here) cursor->must.erase(payload);
  if (here) cursor->may.erase(payload);
  place->second.erase(payload);
  if (place->second.empty()) contents.erase(place);
  return true;
}

}  // namespace keydrome
