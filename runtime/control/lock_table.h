// Locks by name: what two-phase locking needs to lock keys that may not exist yet.
//
// A lock is in the table while somebody has taken it. Thread safety: all functions; each shard has
// its own mutex, held for one look-up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/cache_line.h"
#include "base/thread_annotations.h"
#include "keydrome/structure.h"
#include "runtime/control/lock_manager.h"

namespace keydrome::runtime {

class Index;

// What a lock is called.
class LockName {
 public:
  enum class Kind : uint8_t {
    kKey,  // a key and all its payloads, whether it exists or not
    kGap,  // the open interval before an existing key
    kEnd,  // the interval behind the last key
  };

  LockName(const Index& index, Kind kind, KeydromeBytes key);
  Kind kind() const { return static_cast<Kind>(text_[sizeof(uintptr_t)]); }
  std::string_view text() const { return {text_, size_}; }

 private:
  char text_[sizeof(uintptr_t) + 1 + KEYDROME_KEY_BYTES_MAX];
  size_t size_;
};

class LockTable {
 public:
  struct Entry {
    Lock lock;
    size_t references = 0;  // guarded by the shard's mutex
    std::string_view name;  // the bytes stand in the map
  };

  // One taking of a lock; given back when it ends, unless it is kept.
  class Lease {
   public:
    Lease(LockTable& table, Entry& entry) : table_(table), entry_(&entry) {}
    Lease(Lease&& other) noexcept
        : table_(other.table_), entry_(std::exchange(other.entry_, nullptr)) {}
    ~Lease() {
      if (entry_ != nullptr) table_.give_back(*entry_);
    }
    Entry& entry() const { return *entry_; }
    // The caller gives it back.
    Entry& keep() { return *std::exchange(entry_, nullptr); }

   private:
    LockTable& table_;
    Entry* entry_;
  };

  LockTable() = default;
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  // The lock of this name; it stays as long as somebody has it. Throws std::bad_alloc.
  Lease take(const LockName& name);
  // The same, or nothing when nobody has it.
  std::optional<Lease> take_if_there(const LockName& name);
  void give_back(Entry& entry);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct alignas(kCacheLine) Shard {
    Mutex mutex;
    std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries
        KEYDROME_GUARDED_BY(mutex);
  };

  Shard& shard_of(std::string_view name) { return shards_[Hash()(name) % shards_.size()]; }

  std::array<Shard, 64> shards_;
};

}  // namespace keydrome::runtime
