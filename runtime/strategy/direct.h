// DirectStrategy: a strategy decides how data structures store an index and which thread calls
// them. In this strategy, each index has one instance of the data structure. All threads share the
// instance, and each thread calls it directly.
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
  Heap heap_;  // of all instances
};

}  // namespace keydrome::runtime
