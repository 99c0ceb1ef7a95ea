#include "runtime/strategy/direct.h"

#include <utility>

namespace keydrome::runtime {

namespace {

class DirectStore final : public Store {
 public:
  explicit DirectStore(std::unique_ptr<Instance> instance) : instance_(std::move(instance)) {}

  int put(KeydromeBytes key, KeydromeBytes payload) override {
    return instance_->put(key, payload);
  }
  int del(KeydromeBytes key, KeydromeBytes payload) override {
    return instance_->del(key, payload);
  }
  int seek(KeydromePosition& position, KeydromeBytes key, KeydromeBytes payload,
           int after) const override {
    return instance_->seek(position, key, payload, after);
  }
  int next(KeydromePosition& position, KeydromeBuffer& key,
           KeydromeBuffer& payload) const override {
    return instance_->next(position, key, payload);
  }
  StoreStatistics statistics() const override {
    return {instance_->statistic(KEYDROME_STATISTIC_PAIRS), instance_->allocated_bytes(),
            instance_->statistic(KEYDROME_STATISTIC_HEIGHT)};
  }

 private:
  std::unique_ptr<Instance> instance_;
};

}  // namespace

std::unique_ptr<Store> DirectStrategy::make_store() {
  std::unique_ptr<Instance> instance = Instance::make(table_, options_);
  if (instance == nullptr) return nullptr;
  return std::make_unique<DirectStore>(std::move(instance));
}

}  // namespace keydrome::runtime
