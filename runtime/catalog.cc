// Implements the catalog of all indexes: a map from names to indexes, guarded by one mutex.
#include "runtime/catalog.h"

namespace keydrome::runtime {

bool Catalog::has(std::string_view name) const {
  const MutexLock guard(mutex_);
  return indexes_.find(name) != indexes_.end();
}

ErrCode Catalog::add(const std::shared_ptr<Index>& index) {
  const MutexLock guard(mutex_);
  return indexes_.try_emplace(index->name(), index).second ? SUCCESS : DB_EXISTS;
}

std::shared_ptr<Index> Catalog::find_and_pin(std::string_view name) const {
  const MutexLock guard(mutex_);
  const auto found = indexes_.find(name);
  if (found == indexes_.end()) return nullptr;
  found->second->pin();  // the map contains no deleted indexes
  return found->second;
}

ErrCode Catalog::remove(std::string_view name) {
  const MutexLock guard(mutex_);
  const auto found = indexes_.find(name);
  if (found == indexes_.end()) return DB_DNE;
  if (!found->second->try_delete()) return FAILURE;
  indexes_.erase(found);
  return SUCCESS;
}

std::vector<std::shared_ptr<Index>> Catalog::all() const {
  const MutexLock guard(mutex_);
  std::vector<std::shared_ptr<Index>> indexes;
  indexes.reserve(indexes_.size());
  for (const auto& [name, index] : indexes_) indexes.push_back(index);
  return indexes;
}

}  // namespace keydrome::runtime
