// Strategy: where the data of an index lives and who executes the structure's operations on it.
//
// Concurrency control (control/control.h) sees an index only through its Store, whatever the
// strategy is: one instance called directly, several instances by key range, or instances that
// other threads own.
#pragma once

#include <cstdint>
#include <memory>

#include "keydrome/structure.h"

namespace keydrome::runtime {

struct StoreStatistics {
  uint64_t pairs = 0;
  uint64_t bytes = 0;   // allocated by the structure
  uint64_t height = 0;  // of the highest instance
};

// The pairs of one index, in order. Parameters and results are those of contract B. Which calls may
// run at once is the structure's capability; the caller (Control) sees to it.
//
// The four calls are functions of contract B themselves: a structure's own, so that calling it
// costs one indirect call, or the strategy's, with whatever it puts in the place of the structure.
class Store {
 public:
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  int put(KeydromeBytes key, KeydromeBytes payload) { return put_(structure_, key, payload); }
  int del(KeydromeBytes key, KeydromeBytes payload) { return del_(structure_, key, payload); }
  int seek(KeydromePosition& position, KeydromeBytes key, KeydromeBytes payload, int after) const {
    return seek_(structure_, &position, key, payload, after);
  }
  int next(KeydromePosition& position, KeydromeBuffer& key, KeydromeBuffer& payload) const {
    return next_(structure_, &position, &key, &payload);
  }
  virtual StoreStatistics statistics() const = 0;

 protected:
  Store(const KeydromeStructureTable& functions, KeydromeStructure* structure)
      : structure_(structure),
        seek_(functions.seek),
        next_(functions.next),
        put_(functions.put),
        del_(functions.del) {}

 private:
  KeydromeStructure* const structure_;
  decltype(KeydromeStructureTable::seek) const seek_;
  decltype(KeydromeStructureTable::next) const next_;
  decltype(KeydromeStructureTable::put) const put_;
  decltype(KeydromeStructureTable::del) const del_;
};

// Makes stores. Thread-safe.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // nullptr when memory is exhausted.
  virtual std::unique_ptr<Store> make_store() = 0;
};

}  // namespace keydrome::runtime
