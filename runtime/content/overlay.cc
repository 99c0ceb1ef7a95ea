// Implements Overlay, the buffered writes of one transaction to one index, as a sorted map. It maps
// each changed pair (key and payload) to true (inserted) or false (erased).
#include "runtime/content/overlay.h"

#include <new>

namespace keydrome::runtime {

namespace {

std::string text_of(KeydromeBytes bytes) {
  return bytes.size == 0 ? std::string()
                         : std::string(static_cast<const char*>(bytes.data), bytes.size);
}

}  // namespace

bool is_before(KeydromeBytes key, KeydromeBytes payload, const Bound& bound) {
  int order = compare(key, bound.key);
  if (order == 0 && bound.payload.data != nullptr) order = compare(payload, bound.payload);
  return order < 0 || (order == 0 && bound.after);
}

Overlay::StoredPair::StoredPair(KeydromeBytes key, KeydromeBytes payload)
    : key_(text_of(key)), payload_(text_of(payload)) {}

// std::string compares as memcmp does. If one string is a prefix of the other, the shorter is
// first.
bool Overlay::Order::operator()(const StoredPair& a, const StoredPair& b) const {
  const int order = a.key_.compare(b.key_);
  return order < 0 || (order == 0 && a.payload_ < b.payload_);
}

bool Overlay::Order::operator()(const StoredPair& pair, const Bound& bound) const {
  return is_before(pair.key_bytes(), pair.payload_bytes(), bound);
}

Overlay::Changes::const_iterator Overlay::find(KeydromeBytes key, KeydromeBytes payload) const {
  const auto found = changes_.lower_bound(Bound{key, payload, false});
  const bool same = found != changes_.end() && equal(found->first.key_bytes(), key) &&
                    equal(found->first.payload_bytes(), payload);
  return same ? found : changes_.end();
}

Overlay::State Overlay::state(KeydromeBytes key, KeydromeBytes payload) const {
  const auto found = find(key, payload);
  if (found == changes_.end()) return State::kUntouched;
  return found->second ? State::kInserted : State::kErased;
}

void Overlay::insert(KeydromeBytes key, KeydromeBytes payload) {
  const auto erased = find(key, payload);
  if (erased != changes_.end()) {
    changes_.erase(erased);
  } else {
    changes_.emplace(StoredPair(key, payload), true);
  }
}

void Overlay::erase(KeydromeBytes key, KeydromeBytes payload) {
  const auto inserted = find(key, payload);
  if (inserted != changes_.end()) {
    changes_.erase(inserted);
  } else {
    changes_.emplace(StoredPair(key, payload), false);
  }
}

void Overlay::erase_all(const std::vector<StoredPair>& pairs) {
  // The first loop allocates memory; if that fails, it removes the entries that it has added. The
  // second loop only erases, so it cannot fail.
  size_t at = 0;
  try {
    for (; at < pairs.size(); ++at) changes_.try_emplace(pairs[at], false);
  } catch (const std::bad_alloc&) {
    while (at-- > 0) {
      const auto added = changes_.find(pairs[at]);
      if (!added->second) changes_.erase(added);
    }
    throw;
  }
  for (const StoredPair& pair : pairs) {
    const auto inserted = changes_.find(pair);
    if (inserted->second) changes_.erase(inserted);
  }
}

const Overlay::StoredPair* Overlay::first_inserted(const Bound& bound) const {
  auto at = changes_.lower_bound(bound);
  while (at != changes_.end() && !at->second) ++at;
  return at == changes_.end() ? nullptr : &at->first;
}

}  // namespace keydrome::runtime
