// Index: one index of the runtime, with its name, its key type, its data, and the data that the
// concurrency control keeps for it.
//
// The catalog and the caches of clients own an index together. A thread may use an index only while
// a handle or a transaction has pinned it, because an unpinned index may be deleted at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "keydrome/index.h"
#include "runtime/concurrency/concurrency.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

class Index {
 public:
  Index(std::string name, KeyType type, std::unique_ptr<Store> store,
        std::unique_ptr<IndexConcurrency> concurrency)
      : name_(std::move(name)),
        type_(type),
        store_(std::move(store)),
        concurrency_(std::move(concurrency)) {}
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  const std::string& name() const { return name_; }
  KeyType type() const { return type_; }
  Store& store() { return *store_; }
  const Store& store() const { return *store_; }
  IndexConcurrency& concurrency() { return *concurrency_; }

  // Pins the index. Returns false if the index has been deleted. This function and all functions
  // below are thread-safe.
  bool try_pin() {
    int64_t pins = pins_;
    while (pins != kDeleted) {
      if (pins_.compare_exchange_weak(pins, pins + 1)) return true;
    }
    return false;
  }
  // Precondition: the index is pinned already.
  void pin() { ++pins_; }
  void unpin() { --pins_; }

  // Marks the index as deleted and frees its data. Returns false if the index is pinned, or if it
  // has been deleted already.
  bool try_delete() {
    int64_t none = 0;
    if (!pins_.compare_exchange_strong(none, kDeleted)) return false;
    store_.reset();
    concurrency_.reset();
    return true;
  }

 private:
  static constexpr int64_t kDeleted = -1;

  const std::string name_;
  const KeyType type_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<IndexConcurrency> concurrency_;
  std::atomic<int64_t> pins_ = 0;
};

}  // namespace keydrome::runtime
