#include "runtime/control/lock_table.h"

#include <cstring>

namespace keydrome::runtime {

LockName::LockName(const Index& index, Kind kind, KeydromeBytes key) {
  const auto address = reinterpret_cast<uintptr_t>(&index);
  std::memcpy(text_, &address, sizeof address);
  text_[sizeof address] = static_cast<char>(kind);
  size_ = sizeof address + 1 + key.size;
  if (key.size > 0) std::memcpy(text_ + sizeof address + 1, key.data, key.size);
}

LockTable::Lease LockTable::take(const LockName& name) {
  Shard& shard = shard_of(name.text());
  const MutexLock guard(shard.mutex);
  auto found = shard.entries.find(name.text());
  if (found == shard.entries.end()) {
    found = shard.entries.try_emplace(std::string(name.text())).first;
    found->second.name = found->first;
  }
  ++found->second.references;
  return {*this, found->second};
}

std::optional<LockTable::Lease> LockTable::take_if_there(const LockName& name) {
  Shard& shard = shard_of(name.text());
  const MutexLock guard(shard.mutex);
  const auto found = shard.entries.find(name.text());
  if (found == shard.entries.end()) return std::nullopt;
  ++found->second.references;
  return std::optional<Lease>(std::in_place, *this, found->second);
}

void LockTable::give_back(Entry& entry) {
  Shard& shard = shard_of(entry.name);
  const MutexLock guard(shard.mutex);
  if (--entry.references == 0) shard.entries.erase(shard.entries.find(entry.name));
}

}  // namespace keydrome::runtime
