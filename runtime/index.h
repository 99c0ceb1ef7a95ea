// One index: its name, key type, data and what concurrency control keeps about it.
//
// Lifetime: catalog and session caches share it; only a pinned index may be used. Handles and
// transactions pin.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "keydrome/index.h"
#include "runtime/control/control.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

class Index {
 public:
  Index(std::string name, KeyType type, std::unique_ptr<Store> store,
        std::unique_ptr<IndexControl> control)
      : name_(std::move(name)),
        type_(type),
        store_(std::move(store)),
        control_(std::move(control)) {}
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  const std::string& name() const { return name_; }
  KeyType type() const { return type_; }
  Store& store() { return *store_; }
  const Store& store() const { return *store_; }
  IndexControl& control() { return *control_; }

  // False when the index was deleted. Thread-safe, as are all below.
  bool try_pin() {
    int64_t pins = pins_;
    while (pins != kDeleted) {
      if (pins_.compare_exchange_weak(pins, pins + 1)) return true;
    }
    return false;
  }
  // For who knows that it is pinned already.
  void pin() { ++pins_; }
  void unpin() { --pins_; }

  // Frees the data for good. False when somebody has it pinned, or it is deleted already.
  bool try_delete() {
    int64_t none = 0;
    if (!pins_.compare_exchange_strong(none, kDeleted)) return false;
    store_.reset();
    control_.reset();
    return true;
  }

 private:
  static constexpr int64_t kDeleted = -1;

  const std::string name_;
  const KeyType type_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<IndexControl> control_;
  std::atomic<int64_t> pins_ = 0;
};

}  // namespace keydrome::runtime
