// DirectStrategy: the simplest strategy. A strategy decides which instances of a data structure
// store an index, and which threads call them. Here, each index has one instance, which all threads
// call directly.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/instance/heap.h"
#include "runtime/instance/instance.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

class DirectStrategy final : public Strategy {
 public:
  DirectStrategy(const KeydromeStructureTable& table, std::string options)
      : table_(table), options_(std::move(options)) {}

  std::unique_ptr<Store> make_store(uint32_t key_bytes) override;

 private:
  const KeydromeStructureTable& table_;
  std::string options_;
  Heap heap_;  // memory of all instances
};

}  // namespace keydrome::runtime
