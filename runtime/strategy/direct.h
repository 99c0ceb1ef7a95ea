// Shared everything: one instance an index, called by the client's own thread.
#pragma once

#include <memory>
#include <string>

#include "runtime/instance/instance.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

class DirectStrategy final : public Strategy {
 public:
  DirectStrategy(const KeydromeStructureTable& table, std::string options)
      : table_(table), options_(std::move(options)) {}

  std::unique_ptr<Store> make_store() override;

 private:
  const KeydromeStructureTable& table_;
  std::string options_;
};

}  // namespace keydrome::runtime
