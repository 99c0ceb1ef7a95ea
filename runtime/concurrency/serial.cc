// Implements the concurrency control "serial": serial execution per partition. A partition is a
// range of keys of one index. Only one transaction at a time has a partition, for reads and for
// writes, and it keeps the partition until it ends.
//
// A transaction takes a partition when it first accesses a key in the partition, or scans over a
// part of it. A scan to the end of the index also takes the last partition. Phantoms and stale
// reads therefore cannot happen. Partitions are taken on demand, because the calls of index.h do
// not say in advance which keys a transaction will access. If transactions wait in a cycle, the
// youngest of them is rolled back.
//
// An index begins as one partition. After kCutAfterChanges changes, the next transaction that has
// this partition cuts the index when the transaction ends. The cut makes kPartitions partitions
// with about equally many keys. An index is cut once. Before the cut, this method behaves like
// index_2pl with the lock "exclusive". After the cut, transactions in different partitions run in
// parallel.
#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/concurrency/families/two_phase.h"
#include "runtime/concurrency/methods.h"

namespace keydrome::runtime {

namespace {

class Serial final : public TwoPhase {
 public:
  static constexpr size_t kPartitions = 32;
  // An index is cut after this many changes. If the index then has too few keys, the next attempt
  // follows after twice as many changes.
  static constexpr uint64_t kCutAfterChanges = 1024;

  // `latch`: how reads latch the structure, kExclusive or kShared.
  explicit Serial(LatchKind latch) : latch_(latch) {}

  std::unique_ptr<IndexConcurrency> make_index_concurrency() override;
  std::unique_ptr<ClientConcurrency> make_client() override;

  ErrCode get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) override;
  ErrCode get_next(Transaction& transaction, Index& index, Cursor& cursor) override;
  ErrCode insert(Transaction& transaction, Index& index, KeydromeBytes key,
                 KeydromeBytes payload) override;
  ErrCode erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                     KeydromeBytes payload) override;
  ErrCode erase_key(Transaction& transaction, Index& index, KeydromeBytes key) override;

  Json statistics() const override;

 private:
  struct Partitioned;  // an index's IndexConcurrency
  struct Running;      // a transaction with its partitions
  struct Use;          // a transaction's partitions of one index

  static Use& use_of(Running& transaction, Index& index);
  ErrCode take(Running& transaction, Use& use, size_t partition);
  ErrCode take_key(Running& transaction, Index& index, KeydromeBytes key);
  static ErrCode step(Use& use, Index& index, Cursor& cursor, size_t& missing);
  void before_release(Locking& transaction) override;
  static bool cut(Index& index);

  const LatchKind latch_;
  std::atomic<uint64_t> cuts_ = 0;
};

}  // namespace

namespace {

constexpr size_t kNone = Serial::kPartitions;

// The first keys of the partitions, sorted. Partition 0 has no entry, because it begins before all
// keys.
using Cuts = std::array<std::string, Serial::kPartitions - 1>;

std::string_view text_of(KeydromeBytes bytes) {
  return {static_cast<const char*>(bytes.data), bytes.size};
}

// Returns all distinct keys, sorted, or an empty vector if the structure fails.
std::vector<std::string> keys_of(const Store& store) {
  std::vector<std::string> keys;
  Run run;
  KeydromeBytes key, payload;
  int found;
  while ((found = run.peek(store, before_key(store.smallest_key()), key, payload)) == 1) {
    run.pass();
    if (keys.empty() || keys.back() != text_of(key)) keys.emplace_back(text_of(key));
  }
  return found == 0 ? keys : std::vector<std::string>();
}

}  // namespace

struct Serial::Partitioned final : Content {
  explicit Partitioned(LatchKind kind) : Content(kind) {}

  size_t partition_of(KeydromeBytes key) const {
    const Cuts* known = published.load(std::memory_order_acquire);
    if (known == nullptr) return 0;
    // string_view compares in the order of keys: as memcmp does, and a prefix comes first.
    const auto above = std::upper_bound(known->begin(), known->end(), text_of(key));
    return static_cast<size_t>(above - known->begin());
  }
  size_t last() const {
    return published.load(std::memory_order_acquire) == nullptr ? 0 : kPartitions - 1;
  }

  std::array<Lock, kPartitions> locks;
  // Until the cut, only the transaction that has partition 0 uses `cut_at` and `cuts`.
  uint64_t cut_at = kCutAfterChanges;
  Cuts cuts;
  // Points to `cuts` after the cut. The release in cut() pairs with the acquires above.
  std::atomic<const Cuts*> published = nullptr;
};

struct Serial::Use {
  Index* index;
  Partitioned* partitioned;
  std::bitset<kPartitions> held;
};

struct Serial::Running final : Locking {
  explicit Running(Waiter& waiter) : Locking(waiter) {}
  std::vector<Use> uses;
};

std::unique_ptr<IndexConcurrency> Serial::make_index_concurrency() {
  return std::make_unique<Partitioned>(latch_);
}

std::unique_ptr<ClientConcurrency> Serial::make_client() {
  return std::make_unique<ClientOf<Running>>();
}

Serial::Use& Serial::use_of(Running& transaction, Index& index) {
  std::vector<Use>& uses = transaction.uses;
  const auto found =
      std::find_if(uses.rbegin(), uses.rend(), [&](const Use& use) { return use.index == &index; });
  if (found != uses.rend()) return *found;
  uses.push_back({&index, static_cast<Partitioned*>(&index.concurrency()), {}});
  return uses.back();
}

// Returns SUCCESS or DEADLOCK. After DEADLOCK the transaction has been rolled back, and `use` no
// longer exists.
ErrCode Serial::take(Running& transaction, Use& use, size_t partition) {
  if (use.held[partition]) return SUCCESS;
  const ErrCode granted =
      acquire(transaction, use.partitioned->locks[partition], LockMode::kExclusive);
  if (granted == SUCCESS) use.held.set(partition);
  return granted;
}

// Takes the partition of the key. Another transaction may cut the index while this thread waits, so
// the function computes the partition again after each wait.
ErrCode Serial::take_key(Running& transaction, Index& index, KeydromeBytes key) {
  Use& use = use_of(transaction, index);
  for (;;) {
    const size_t partition = use.partitioned->partition_of(key);
    const ErrCode taken = take(transaction, use, partition);
    if (taken != SUCCESS || use.partitioned->partition_of(key) == partition) return taken;
  }
}

ErrCode Serial::get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) {
  const ErrCode taken = take_key(static_cast<Running&>(transaction), index, key);
  if (taken != SUCCESS) return taken;
  const ReadLatch latch(content_of(index).latch);
  return read_key(index, cursor, key);
}

ErrCode Serial::get_next(Transaction& transaction, Index& index, Cursor& cursor) {
  auto& self = static_cast<Running&>(transaction);
  Use& use = use_of(self, index);
  for (;;) {
    size_t missing = kNone;
    const ErrCode code = step(use, index, cursor, missing);
    if (missing == kNone) return code;
    const ErrCode taken = take(self, use, missing);
    if (taken != SUCCESS) return taken;
  }
}

// Attempts to read the next pair. This needs all partitions from the cursor to the next pair. If
// the transaction does not have one of them, sets `missing` to this partition, does not move the
// cursor, and returns a value that the caller must ignore.
ErrCode Serial::step(Use& use, Index& index, Cursor& cursor, size_t& missing) {
  Partitioned& content = *use.partitioned;
  const Store& store = index.store();
  const ReadLatch latch(content.latch);
  if (content.broken) return FAILURE;
  KeydromeBytes key, payload;
  const int found = peek(content, store, cursor, key, payload);
  if (found < 0) return FAILURE;
  const size_t from =
      cursor.place == Cursor::Place::kStart ? 0 : content.partition_of(cursor.key_bytes());
  const size_t to = found == 0 ? content.last() : content.partition_of(key);
  for (size_t partition = from; partition <= to; ++partition) {
    if (use.held[partition]) continue;
    missing = partition;
    return DEADLOCK;
  }
  if (found == 0) return DB_END;
  advance(cursor, key, payload);
  return SUCCESS;
}

ErrCode Serial::insert(Transaction& transaction, Index& index, KeydromeBytes key,
                       KeydromeBytes payload) {
  auto& self = static_cast<Running&>(transaction);
  const ErrCode taken = take_key(self, index, key);
  if (taken != SUCCESS) return taken;
  const WriteLatch latch(content_of(index).latch);
  return content_of(index).broken ? FAILURE : change(self.undo, index, true, key, payload);
}

ErrCode Serial::erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                           KeydromeBytes payload) {
  auto& self = static_cast<Running&>(transaction);
  const ErrCode taken = take_key(self, index, key);
  if (taken != SUCCESS) return taken;
  const WriteLatch latch(content_of(index).latch);
  return content_of(index).broken ? FAILURE : change(self.undo, index, false, key, payload);
}

ErrCode Serial::erase_key(Transaction& transaction, Index& index, KeydromeBytes key) {
  auto& self = static_cast<Running&>(transaction);
  const ErrCode taken = take_key(self, index, key);
  if (taken != SUCCESS) return taken;
  const WriteLatch latch(content_of(index).latch);
  return content_of(index).broken ? FAILURE : erase_payloads(self.undo, index, key);
}

// If the transaction has the only partition of an index, and the index has changed often enough,
// cuts the index before the partition is released.
void Serial::before_release(Locking& transaction) {
  auto& self = static_cast<Running&>(transaction);
  for (const Use& use : self.uses) {
    if (!use.held[0] || use.partitioned->last() != 0) continue;
    if (use.partitioned->changes >= use.partitioned->cut_at && cut(*use.index)) ++cuts_;
  }
  self.uses.clear();
}

// Divides the index into partitions. Returns false if there are too few keys or too little memory.
// The next attempt then follows after twice as many changes.
bool Serial::cut(Index& index) {
  auto& content = static_cast<Partitioned&>(index.concurrency());
  content.cut_at = 2 * content.changes;
  // This transaction has the only partition, so no other transaction changes the index. Other
  // threads may still read the structure, because step() reads the next pair before it takes the
  // pair's partition. With a latch of kind kExclusive, only one thread at a time may read the
  // structure. Therefore this function takes the latch as a reader.
  const ReadLatch latch(content.latch);
  try {
    const std::vector<std::string> keys = keys_of(index.store());
    if (keys.size() < 2 * kPartitions) return false;
    for (size_t at = 0; at < content.cuts.size(); ++at) {
      content.cuts[at] = keys[(at + 1) * keys.size() / kPartitions];
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  content.published.store(&content.cuts, std::memory_order_release);
  return true;
}

Json Serial::statistics() const {
  Json json = TwoPhase::statistics();
  json["cuts"] = cuts_.load();
  return json;
}

ConcurrencyMethod serial_method() {
  return {"serial", true, true, false,
          [](const ConcurrencyOptions& options) -> std::unique_ptr<Concurrency> {
            return std::make_unique<Serial>(options.latch);
          }};
}

}  // namespace keydrome::runtime
