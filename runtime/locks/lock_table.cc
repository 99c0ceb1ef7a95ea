// Implements LockTable: a hash table from names to locks. It is divided into shards, and each shard
// has its own mutex.
#include "runtime/locks/lock_table.h"

#include <cstring>
#include <functional>

namespace keydrome::runtime {

LockName::LockName(const Index& index, Kind kind, KeydromeBytes key) {
  const auto address = reinterpret_cast<uintptr_t>(&index);
  std::memcpy(text_, &address, sizeof address);
  text_[sizeof address] = static_cast<char>(kind);
  size_ = sizeof address + 1 + key.size;
  if (key.size > 0) std::memcpy(text_ + sizeof address + 1, key.data, key.size);
}

LockTable::Entry* LockTable::Shard::find(std::string_view name, size_t hash) {
  Entry* entry = chain_of(hash).get();
  while (entry != nullptr && (entry->hash != hash || entry->name != name)) {
    entry = entry->next.get();
  }
  return entry;
}

LockTable::Entry& LockTable::Shard::add(std::string_view name, size_t hash) {
  std::unique_ptr<Entry> entry = spare_entry();
  entry->name = name;
  entry->hash = hash;
  if (entries_ == chains_.size()) double_chains();
  std::unique_ptr<Entry>& chain = chain_of(hash);
  entry->next = std::move(chain);
  chain = std::move(entry);
  ++entries_;
  return *chain;
}

void LockTable::Shard::remove(const Entry& entry) {
  std::unique_ptr<Entry>* at = &chain_of(entry.hash);
  while (at->get() != &entry) at = &(*at)->next;
  std::unique_ptr<Entry> removed = std::move(*at);
  *at = std::move(removed->next);
  --entries_;
  if (spare_count_ == kSparesMax) return;
  removed->next = std::move(spares_);
  spares_ = std::move(removed);
  ++spare_count_;
}

std::unique_ptr<LockTable::Entry> LockTable::Shard::spare_entry() {
  if (spares_ == nullptr) return std::make_unique<Entry>();
  std::unique_ptr<Entry> entry = std::move(spares_);
  spares_ = std::move(entry->next);
  --spare_count_;
  return entry;
}

void LockTable::Shard::double_chains() {
  std::vector<std::unique_ptr<Entry>> old(2 * chains_.size());
  chains_.swap(old);
  for (std::unique_ptr<Entry>& chain : old) {
    while (chain != nullptr) {
      std::unique_ptr<Entry> rest = std::move(chain->next);
      std::unique_ptr<Entry>& other = chain_of(chain->hash);
      chain->next = std::move(other);
      other = std::move(chain);
      chain = std::move(rest);
    }
  }
}

LockTable::Lease LockTable::take(const LockName& name) {
  const size_t hash = std::hash<std::string_view>()(name.text());
  Shard& shard = shard_of(hash);
  const MutexLock guard(shard.mutex);
  Entry* const found = shard.find(name.text(), hash);
  Entry& entry = found != nullptr ? *found : shard.add(name.text(), hash);
  ++entry.references;
  return {*this, entry};
}

std::optional<LockTable::Lease> LockTable::take_if_there(const LockName& name) {
  const size_t hash = std::hash<std::string_view>()(name.text());
  Shard& shard = shard_of(hash);
  const MutexLock guard(shard.mutex);
  Entry* const found = shard.find(name.text(), hash);
  if (found == nullptr) return std::nullopt;
  ++found->references;
  return std::optional<Lease>(std::in_place, *this, *found);
}

void LockTable::give_back(Entry& entry) {
  Shard& shard = shard_of(entry.hash);
  const MutexLock guard(shard.mutex);
  if (--entry.references == 0) shard.remove(entry);
}

}  // namespace keydrome::runtime
