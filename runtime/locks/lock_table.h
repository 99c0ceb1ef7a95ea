// LockTable: finds or creates a lock by its name. Two-phase locking uses it to lock keys that may
// not exist in the index.
//
//   LockTable table;
//   LockTable::Lease lease = table.take(LockName(index, LockName::Kind::kKey, key));
//   locks.acquire(owner, lease.entry().lock, LockMode::kShared);
//   LockTable::Entry& entry = lease.keep();  // the transaction keeps the entry
//   table.give_back(entry);                  // when the transaction ends
//
// The table contains a lock as long as at least one thread refers to it. Any thread may call any
// function. The table is divided into shards. Each shard has its own mutex, which a thread holds
// during one look-up.
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
#include "runtime/locks/lock_manager.h"

namespace keydrome::runtime {

class Index;

// The name of a lock: index, kind and key.
class LockName {
 public:
  enum class Kind : uint8_t {
    kKey,  // a key with all its payloads; the key need not exist
    kGap,  // the open interval before an existing key
    kEnd,  // the interval after the last key
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
    size_t references = 0;        // the shard's mutex guards this field and `next`
    std::unique_ptr<Entry> next;  // the next entry in the same chain
    std::string name;             // neither `name` nor `hash` changes while references > 0
    size_t hash = 0;
  };

  // A counted reference to an entry. The destructor gives the entry back unless keep() was called.
  class Lease {
   public:
    Lease(LockTable& table, Entry& entry) : table_(table), entry_(&entry) {}
    Lease(Lease&& other) noexcept
        : table_(other.table_), entry_(std::exchange(other.entry_, nullptr)) {}
    ~Lease() {
      if (entry_ != nullptr) table_.give_back(*entry_);
    }
    Entry& entry() const { return *entry_; }
    // Returns the entry, which the caller must give back to the table later.
    Entry& keep() { return *std::exchange(entry_, nullptr); }

   private:
    LockTable& table_;
    Entry* entry_;
  };

  LockTable() = default;
  LockTable(const LockTable&) = delete;
  LockTable& operator=(const LockTable&) = delete;

  // Returns the lock of this name, and adds it if the table does not have it. Throws
  // std::bad_alloc.
  Lease take(const LockName& name);
  // Returns the lock of this name, or std::nullopt if the table does not have it.
  std::optional<Lease> take_if_there(const LockName& name);
  void give_back(Entry& entry);

 private:
  static constexpr size_t kShards = 64;

  // A hash table with chains, which have at most one entry on average. The code does not use
  // std::unordered_map, because a transaction with a million locks spends its time on cache misses.
  // A look-up in this table has two cache misses: the chain and the entry. A look-up in
  // std::unordered_map has four, because it searches for the node before the wanted node.
  struct alignas(kCacheLine) Shard {
    // Returns the entry, or nullptr if there is none.
    Entry* find(std::string_view name, size_t hash) KEYDROME_REQUIRES(mutex);
    // Precondition: the name is not in the shard.
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
    // Entries that are not in use. They are kept for reuse, so that most transactions allocate
    // nothing.
    static constexpr size_t kSparesMax = 64;
    std::unique_ptr<Entry> spares_ KEYDROME_GUARDED_BY(mutex);
    size_t spare_count_ KEYDROME_GUARDED_BY(mutex) = 0;
  };

  Shard& shard_of(size_t hash) { return shards_[hash % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace keydrome::runtime
