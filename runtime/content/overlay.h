// Overlay: the buffered writes of one transaction to one index. Each write inserts or deletes a
// pair (key and payload). Commit applies the writes to the index.
//
// An overlay contains only differences from the committed content. If a transaction deletes a pair
// that it has inserted, or inserts a pair that it has deleted, the overlay drops the entry of this
// pair.
//
// Thread safety: none. An overlay belongs to one transaction.
#pragma once

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "keydrome/structure.h"
#include "runtime/content/content.h"

namespace keydrome::runtime {

class Overlay {
 public:
  enum class State : uint8_t { kUntouched, kInserted, kErased };
  // A key and a payload. The object has its own copy of the bytes.
  class StoredPair {
   public:
    StoredPair(KeydromeBytes key, KeydromeBytes payload);
    KeydromeBytes key_bytes() const { return bytes(key_); }
    KeydromeBytes payload_bytes() const { return bytes(payload_); }

   private:
    friend class Overlay;
    static KeydromeBytes bytes(const std::string& text) {
      return {text.data(), static_cast<uint32_t>(text.size())};
    }
    std::string key_;
    std::string payload_;
  };

  bool empty() const { return changes_.empty(); }
  void clear() { changes_.clear(); }
  State state(KeydromeBytes key, KeydromeBytes payload) const;
  // Precondition of insert: the transaction does not see the pair. Precondition of erase and
  // erase_all: the transaction sees the pairs. If memory runs out, these functions change nothing
  // and throw std::bad_alloc.
  void insert(KeydromeBytes key, KeydromeBytes payload);
  void erase(KeydromeBytes key, KeydromeBytes payload);
  void erase_all(const std::vector<StoredPair>& pairs);
  // Returns the first pair at or after the bound that the transaction has inserted, or nullptr if
  // there is none. The pointer is valid until the next change.
  const StoredPair* first_inserted(const Bound& bound) const;

  // Calls `change(pair, inserted)` for each change, sorted by pair. For a deletion and an insertion
  // of the same key that are neighbours in this order, makes one call `replace(deleted, inserted)`
  // instead. If a call returns false, stops and returns false.
  template <class ChangeCall, class ReplaceCall>
  bool install(ChangeCall&& change, ReplaceCall&& replace) const {
    for (auto at = changes_.begin(); at != changes_.end(); ++at) {
      const auto next = std::next(at);
      if (next == changes_.end() || next->second == at->second ||
          next->first.key_ != at->first.key_) {
        if (!change(at->first, at->second)) return false;
        continue;
      }
      const bool done =
          at->second ? replace(next->first, at->first) : replace(at->first, next->first);
      if (!done) return false;
      at = next;
    }
    return true;
  }

  // Calls `call(pair, inserted)` for each change, sorted by pair. If a call returns false, stops
  // and returns false.
  template <class Call>
  bool for_each(Call&& call) const {
    for (const auto& [pair, inserted] : changes_) {
      if (!call(pair, inserted)) return false;
    }
    return true;
  }

 private:
  struct Order {
    using is_transparent = void;
    bool operator()(const StoredPair& a, const StoredPair& b) const;
    bool operator()(const StoredPair& pair, const Bound& bound) const;
  };
  using Changes = std::map<StoredPair, bool, Order>;  // true: inserted, false: erased

  Changes::const_iterator find(KeydromeBytes key, KeydromeBytes payload) const;

  Changes changes_;
};

// Returns true if the pair is before the bound.
bool is_before(KeydromeBytes key, KeydromeBytes payload, const Bound& bound);

}  // namespace keydrome::runtime
