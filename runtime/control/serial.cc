#include "runtime/control/serial.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace keydrome::runtime {

namespace {

constexpr size_t kNone = Serial::kPartitions;

// The first key of every partition but the first, in order.
using Cuts = std::array<std::string, Serial::kPartitions - 1>;

std::string_view text_of(KeydromeBytes bytes) {
  return {static_cast<const char*>(bytes.data), bytes.size};
}

// Every different key, in order; empty when the structure fails.
std::vector<std::string> keys_of(const Store& store) {
  std::vector<std::string> keys;
  KeydromePosition position;
  Pair pair;
  if (seek(store, position, before_key({"", 0})) < 0) return {};
  int found;
  while ((found = read_next(store, position, pair)) == 1) {
    const std::string_view key = text_of(pair.key());
    if (keys.empty() || keys.back() != key) keys.emplace_back(key);
  }
  return found == 0 ? keys : std::vector<std::string>();
}

}  // namespace

struct Serial::Partitioned final : Content {
  explicit Partitioned(LatchKind kind) : Content(kind) {}

  size_t partition_of(KeydromeBytes key) const {
    const Cuts* known = published.load(std::memory_order_acquire);
    if (known == nullptr) return 0;
    // string_view compares as memcmp does, the shorter first.
    const auto above = std::upper_bound(known->begin(), known->end(), text_of(key));
    return static_cast<size_t>(above - known->begin());
  }
  size_t last() const {
    return published.load(std::memory_order_acquire) == nullptr ? 0 : kPartitions - 1;
  }

  std::array<Lock, kPartitions> locks;
  // Both belong to whoever has partition 0, until the cut.
  uint64_t cut_at = kCutAfterChanges;
  Cuts cuts;
  // Set once, to `cuts`; the release pairs with the acquires above.
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

std::unique_ptr<IndexControl> Serial::make_index_control() {
  return std::make_unique<Partitioned>(latch_);
}

std::unique_ptr<ControlSession> Serial::make_session() {
  return std::make_unique<SessionOf<Running>>();
}

Serial::Use& Serial::use_of(Running& transaction, Index& index) {
  std::vector<Use>& uses = transaction.uses;
  const auto found =
      std::find_if(uses.rbegin(), uses.rend(), [&](const Use& use) { return use.index == &index; });
  if (found != uses.rend()) return *found;
  transaction.pins.add(index);
  uses.push_back({&index, static_cast<Partitioned*>(&index.control()), {}});
  return uses.back();
}

// SUCCESS or DEADLOCK; after that `use` is gone.
ErrCode Serial::take(Running& transaction, Use& use, size_t partition) {
  if (use.held[partition]) return SUCCESS;
  const ErrCode granted =
      acquire(transaction, use.partitioned->locks[partition], LockMode::kExclusive);
  if (granted == SUCCESS) use.held.set(partition);
  return granted;
}

// Takes the partition of the key. The index may be cut while this waits, so it looks again.
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

// One try to read the next pair. When a partition on the way to it is not held, that is `missing`,
// the cursor has not moved and the answer counts for nothing.
ErrCode Serial::step(Use& use, Index& index, Cursor& cursor, size_t& missing) {
  Partitioned& content = *use.partitioned;
  const Store& store = index.store();
  const ReadLatch latch(content.latch);
  if (content.broken || refresh(content, store, cursor) < 0) return FAILURE;
  KeydromePosition after = cursor.position;
  Pair next;
  const int found = read_next(store, after, next);
  if (found < 0) {
    cursor.has_position = false;
    return FAILURE;
  }
  const size_t from =
      cursor.place == Cursor::Place::kStart ? 0 : content.partition_of(cursor.key_bytes());
  const size_t to = found == 0 ? content.last() : content.partition_of(next.key());
  for (size_t partition = from; partition <= to; ++partition) {
    if (use.held[partition]) continue;
    missing = partition;
    return DEADLOCK;
  }
  if (found == 0) return DB_END;
  place_on(cursor, next);
  cursor.position = after;
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

// Who has the only partition of an index that has grown cuts it before the next one gets it.
void Serial::before_release(Locking& transaction) {
  auto& self = static_cast<Running&>(transaction);
  for (const Use& use : self.uses) {
    if (!use.held[0] || use.partitioned->last() != 0) continue;
    if (use.partitioned->changes >= use.partitioned->cut_at && cut(*use.index)) ++cuts_;
  }
  self.uses.clear();
}

// False when there are too few keys, or too little memory: another try after twice the changes.
bool Serial::cut(Index& index) {
  auto& content = static_cast<Partitioned&>(index.control());
  content.cut_at = 2 * content.changes;
  // Nobody else changes the index, but others look before they wait.
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

}  // namespace keydrome::runtime
