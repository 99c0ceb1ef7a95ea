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

// The pairs of one index, in order. Parameters and results are those of contract B, so that a call
// can be handed on as it is. Which calls may run at once is the structure's capability; the caller
// (Control) sees to it.
class Store {
 public:
  virtual ~Store() = default;
  virtual int put(KeydromeBytes key, KeydromeBytes payload) = 0;
  virtual int del(KeydromeBytes key, KeydromeBytes payload) = 0;
  virtual int seek(KeydromePosition& position, KeydromeBytes key, KeydromeBytes payload,
                   int after) const = 0;
  virtual int next(KeydromePosition& position, KeydromeBuffer& key,
                   KeydromeBuffer& payload) const = 0;
  virtual StoreStatistics statistics() const = 0;
};

// Makes stores. Thread-safe.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // nullptr when memory is exhausted.
  virtual std::unique_ptr<Store> make_store() = 0;
};

}  // namespace keydrome::runtime
