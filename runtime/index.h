// Index: one index of the runtime (the library that adds transactions to a data structure). It
// consists of a name, a key type, the records, and the data that the concurrency control keeps for
// the index. The catalog (catalog.h) owns all indexes, and destroys them when it is destroyed.
#pragma once

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

 private:
  const std::string name_;
  const KeyType type_;
  const std::unique_ptr<Store> store_;
  const std::unique_ptr<IndexConcurrency> concurrency_;
};

}  // namespace keydrome::runtime
