#include "runtime/control/overlay.h"

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

Overlay::Name::Name(KeydromeBytes key, KeydromeBytes payload)
    : key_(text_of(key)), payload_(text_of(payload)) {}

// std::string compares as memcmp does, the shorter first.
bool Overlay::Order::operator()(const Name& a, const Name& b) const {
  const int order = a.key_.compare(b.key_);
  return order < 0 || (order == 0 && a.payload_ < b.payload_);
}

bool Overlay::Order::operator()(const Name& name, const Bound& bound) const {
  return is_before(name.key_bytes(), name.payload_bytes(), bound);
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
    changes_.emplace(Name(key, payload), true);
  }
}

void Overlay::erase(KeydromeBytes key, KeydromeBytes payload) {
  const auto inserted = find(key, payload);
  if (inserted != changes_.end()) {
    changes_.erase(inserted);
  } else {
    changes_.emplace(Name(key, payload), false);
  }
}

void Overlay::erase_all(const std::vector<Name>& pairs) {
  // First what needs memory; that much can be taken back.
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
  for (const Name& pair : pairs) {
    const auto inserted = changes_.find(pair);
    if (inserted->second) changes_.erase(inserted);
  }
}

const Overlay::Name* Overlay::first_inserted(const Bound& bound) const {
  auto at = changes_.lower_bound(bound);
  while (at != changes_.end() && !at->second) ++at;
  return at == changes_.end() ? nullptr : &at->first;
}

}  // namespace keydrome::runtime
