// Store and Strategy: the interface to the data of an index. The data are pairs of a key and a
// payload. A structure (structure.h) is a data structure that stores them, without transactions and
// locks.
//
// A Strategy decides how many instances of the structure store an index, and which thread executes
// the operations. It makes one Store per index. A concurrency control sees the data only through
// the Store, so it works with every strategy. Possible strategies are one instance that the calling
// thread uses, several instances by key range, or instances that other threads own. direct.h is the
// only strategy so far.
#pragma once

#include <cstdint>
#include <memory>

#include "keydrome/structure.h"

namespace keydrome::runtime {

// The pairs of one index, sorted. Parameters and results are those of structure.h. The structure's
// capabilities say which calls may run in parallel, and the concurrency control prevents all other
// calls from running in parallel.
//
// The four operations are function pointers, as in structure.h. They usually point to the
// structure's own functions, so that an operation costs one indirect call. A strategy may also pass
// functions of its own, with an object of its own in place of the structure.
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
  // For tests: returns the number of pairs, or 0 if the structure does not count them. No thread may
  // change the data at the same time.
  virtual uint64_t pairs() const = 0;

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
  // Returns nullptr if memory runs out, or if the structure does not accept its options.
  virtual std::unique_ptr<Store> make_store() = 0;
};

}  // namespace keydrome::runtime
