// Implements DirectStrategy: each index has one instance of the data structure. The thread that
// uses the index calls the functions of this instance itself.
#include "runtime/strategy/direct.h"

#include <utility>

namespace keydrome::runtime {

namespace {

class DirectStore final : public Store {
 public:
  DirectStore(const KeydromeStructureTable& table, std::unique_ptr<Instance> instance,
              uint32_t key_bytes)
      : Store(table, instance->structure(), key_bytes), instance_(std::move(instance)) {}

 private:
  std::unique_ptr<Instance> instance_;
};

}  // namespace

std::unique_ptr<Store> DirectStrategy::make_store(uint32_t key_bytes) {
  std::unique_ptr<Instance> instance = Instance::make(table_, heap_, key_bytes, options_);
  if (instance == nullptr) return nullptr;
  return std::make_unique<DirectStore>(table_, std::move(instance), key_bytes);
}

}  // namespace keydrome::runtime
