// Implements DirectStrategy: each index has one instance of the data structure. The thread that
// uses the index calls the functions of this instance itself.
#include "runtime/strategy/direct.h"

#include <utility>

namespace keydrome::runtime {

namespace {

class DirectStore final : public Store {
 public:
  DirectStore(const KeydromeStructureTable& table, std::unique_ptr<Instance> instance)
      : Store(table, instance->structure()), instance_(std::move(instance)) {}

  uint64_t pairs() const override { return instance_->statistic(KEYDROME_STATISTIC_PAIRS); }

 private:
  std::unique_ptr<Instance> instance_;
};

}  // namespace

std::unique_ptr<Store> DirectStrategy::make_store() {
  std::unique_ptr<Instance> instance = Instance::make(table_, options_);
  if (instance == nullptr) return nullptr;
  return std::make_unique<DirectStore>(table_, std::move(instance));
}

}  // namespace keydrome::runtime
