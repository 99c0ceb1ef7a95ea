// Implements Catalog, the list of all indexes: a map from names to indexes, guarded by one mutex.
#include "runtime/catalog.h"

#include <utility>

namespace keydrome::runtime {

bool Catalog::has(std::string_view name) const {
  const MutexLock guard(mutex_);
  return indexes_.find(name) != indexes_.end();
}

ErrCode Catalog::add(std::unique_ptr<Index> index) {
  const std::string& name = index->name();
  const MutexLock guard(mutex_);
  return indexes_.try_emplace(name, std::move(index)).second ? SUCCESS : DB_EXISTS;
}

Index* Catalog::find(std::string_view name) const {
  const MutexLock guard(mutex_);
  const auto found = indexes_.find(name);
  return found == indexes_.end() ? nullptr : found->second.get();
}

}  // namespace keydrome::runtime
