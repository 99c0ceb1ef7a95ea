// What a transaction has changed in one index and not yet handed to the structure.
//
// Holds differences from what is committed only: deleting an own insertion leaves nothing behind,
// and so does inserting again what was deleted. Thread safety: none; belongs to one transaction.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "keydrome/structure.h"
#include "runtime/control/content.h"

namespace keydrome::runtime {

class Overlay {
 public:
  enum class State : uint8_t { kUntouched, kInserted, kErased };
  // A pair by value.
  class Name {
   public:
    Name(KeydromeBytes key, KeydromeBytes payload);
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
  // The pair is not there for this transaction, or is there; these change that. They throw
  // std::bad_alloc, with nothing changed.
  void insert(KeydromeBytes key, KeydromeBytes payload);
  void erase(KeydromeBytes key, KeydromeBytes payload);
  void erase_all(const std::vector<Name>& pairs);
  // The first own insertion from the bound on, or nullptr. Valid until the next change.
  const Name* first_inserted(const Bound& bound) const;

  // In order; `call(name, inserted)` answers whether to go on.
  template <class Call>
  bool for_each(Call&& call) const {
    for (const auto& [name, inserted] : changes_) {
      if (!call(name, inserted)) return false;
    }
    return true;
  }

 private:
  struct Order {
    using is_transparent = void;
    bool operator()(const Name& a, const Name& b) const;
    bool operator()(const Name& name, const Bound& bound) const;
  };
  using Changes = std::map<Name, bool, Order>;  // true: inserted

  Changes::const_iterator find(KeydromeBytes key, KeydromeBytes payload) const;

  Changes changes_;
};

// Whether the pair lies before the bound.
bool is_before(KeydromeBytes key, KeydromeBytes payload, const Bound& bound);

}  // namespace keydrome::runtime
