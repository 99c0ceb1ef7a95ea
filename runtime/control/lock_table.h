// Locks by name: what two-phase locking needs to lock keys that may not exist yet.
//
// A lock is in the table while somebody has taken it. Thread safety: all functions; each shard has
// its own mutex, held for one look-up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    size_t references = 0;        // this and `next` are guarded by the shard's mutex
    std::unique_ptr<Entry> next;  // in the same chain
    std::string name;             // this and `hash` stay while anybody has the entry
    size_t hash = 0;
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
  static constexpr size_t kShards = 64;

  // Chains of entries by their hashes, on average no longer than one. What a transaction with a
  // million locks costs is cache misses, and here a look-up has two: the chain and the entry. (In
  // std::unordered_map it has four, since what is looked for is the node before.)
  struct alignas(kCacheLine) Shard {
    // The entry, or nullptr.
    Entry* find(std::string_view name, size_t hash) KEYDROME_REQUIRES(mutex);
    // A name that is not there.
    Entry& add(std::string_view name, size_t hash) KEYDROME_REQUIRES(mutex);
    void remove(const Entry& entry) KEYDROME_REQUIRES(mutex);

    Mutex mutex;

   private:
    std::unique_ptr<Entry>& chain_of(size_t hash) KEYDROME_REQUIRES(mutex) {
      return chains_[hash / kShards & (chains_.size() - 1)];
    }
    void double_chains() KEYDROME_REQUIRES(mutex);
    std::unique_ptr<Entry> spare_entry() KEYDROME_REQUIRES(mutex);

    std::vector<std::unique_ptr<Entry>> chains_ KEYDROME_GUARDED_BY(mutex){1};  // a power of two
    size_t entries_ KEYDROME_GUARDED_BY(mutex) = 0;
    // Some that nobody has, with the memory that they took: most transactions allocate nothing.
    static constexpr size_t kSparesMax = 64;
    std::unique_ptr<Entry> spares_ KEYDROME_GUARDED_BY(mutex);
    size_t spare_count_ KEYDROME_GUARDED_BY(mutex) = 0;
  };

  Shard& shard_of(size_t hash) { return shards_[hash % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace keydrome::runtime
