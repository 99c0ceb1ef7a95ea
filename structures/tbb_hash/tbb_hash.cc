// Exports oneTBB's concurrent hash map through contract B, the interface of a data structure
// (keydrome/structure.h).
#include <tbb/concurrent_hash_map.h>

#include <functional>
#include <memory_resource>
#include <new>
#include <string_view>
#include <utility>

#include "keydrome/structure_class.h"
#include "structures/common/keys.h"

namespace {

using keydrome::NumberKeys;
using keydrome::ShortBytes;
using keydrome::TextKeys;
using keydrome::view_of;

// The hash of keys that are texts. Keys that are numbers use oneTBB's own hash.
struct HashOfTexts {
  using is_transparent = void;
  static std::string_view view(std::string_view key) { return key; }
  static std::string_view view(const ShortBytes& key) { return key.view(); }
  static size_t hash(const auto& key) { return std::hash<std::string_view>()(view(key)); }
  static bool equal(const auto& a, const auto& b) { return view(a) == view(b); }
};

// Thrown if an insertion has succeeded, but there is no memory for more buckets. A later insertion
// tries again.
struct NoBuckets : std::bad_alloc {};

// The environment's memory. Thread-safe.
class Resource final : public std::pmr::memory_resource {
 public:
  explicit Resource(const KeydromeEnvironment& environment) : memory_(environment) {}

 private:
  static constexpr size_t kEntryMax = 256;  // the map allocates larger blocks only for buckets

  void* do_allocate(size_t size, size_t alignment) override {
    void* memory = memory_.allocate(size, alignment);
    if (memory != nullptr) return memory;
    if (size > kEntryMax) throw NoBuckets();
    throw std::bad_alloc();
  }
  void do_deallocate(void* memory, size_t size, size_t alignment) override {
    memory_.retire(memory, size, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  const keydrome::StructureMemory memory_;
};

// Thread safety: all functions may run at the same time. An accessor locks its entry.
template <class Keys, class Hash>
class HashedPairs {
 public:
  HashedPairs(const KeydromeEnvironment& environment, const KeydromeSetup&)
      : memory_(environment), resource_(environment) {}
  HashedPairs(const HashedPairs&) = delete;
  HashedPairs& operator=(const HashedPairs&) = delete;
  ~HashedPairs() {
    for (const auto& [key, payload] : entries_) Pair{key, payload}.drop(memory_);
  }

  // The runtime never gives a key a second payload (payloads_max is 1). So if the key exists, it
  // already has this payload.
  int put(KeydromeBytes key, KeydromeBytes payload) {
    if (typename Map::const_accessor at; entries_.find(at, Keys::probe(key))) return 0;
    const auto pair = Pair::make(memory_, Keys::probe(key), view_of(payload));
    bool is_new = false;
    try {
      is_new = entries_.emplace(pair.key, pair.payload);
    } catch (const NoBuckets&) {
      is_new = true;
    } catch (const std::bad_alloc&) {
      pair.drop(memory_);
      throw;
    }
    if (!is_new) pair.drop(memory_);  // another thread was faster
    return is_new ? 1 : 0;
  }

  int del(KeydromeBytes key, KeydromeBytes payload) {
    typename Map::accessor at;
    if (!entries_.find(at, Keys::probe(key)) || at->second.view() != view_of(payload)) return 0;
    const Pair pair{at->first, at->second};
    entries_.erase(at);
    pair.drop(memory_);
    return 1;
  }

  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) {
    typename Map::accessor at;
    if (!entries_.find(at, Keys::probe(key)) || at->second.view() != view_of(before)) return 0;
    if (view_of(before) == view_of(now)) return 2;
    const ShortBytes made = ShortBytes::make(memory_, view_of(now));
    at->second.drop(memory_);
    at->second = made;
    return 1;
  }

  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const {
    typename Map::const_accessor at;
    if (!entries_.find(at, Keys::probe(key))) return 0;
    if (after.data != nullptr && at->second.view() <= view_of(after)) return 0;
    keydrome::copy_payload(at->second.view(), payload);
    return 1;
  }

 private:
  using Pair = keydrome::StoredPair<Keys>;
  using Map = tbb::concurrent_hash_map<
      typename Keys::Stored, ShortBytes, Hash,
      std::pmr::polymorphic_allocator<std::pair<const typename Keys::Stored, ShortBytes>>>;

  const keydrome::StructureMemory memory_;
  Resource resource_;
  // Mutable, because oneTBB's lookup with another key type is not const.
  mutable Map entries_{typename Map::allocator_type(&resource_)};
};

using Table = keydrome::EitherKeys<HashedPairs<NumberKeys, tbb::tbb_hash_compare<uint64_t>>,
                                   HashedPairs<TextKeys, HashOfTexts>>;

constexpr KeydromeStructureTable kTable = keydrome::structure_table<Table>({
    .name = "tbb_hash",
    .description = "oneTBB's concurrent hash map",
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE | KEYDROME_UNORDERED,
    .payloads_max = 1,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
