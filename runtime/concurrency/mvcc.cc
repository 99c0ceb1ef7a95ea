// Implements the concurrency control "mvcc": several versions of the data, reads of snapshots, and
// validation of one commit at a time.
//
// Every commit that writes has a timestamp. A transaction reads a snapshot: the data of all commits
// up to the begin of the transaction. All data in a snapshot is therefore consistent.
//
// - A transaction without writes behaves as if it ran at the instant of its begin. It commits
//   without a check and never fails.
// - A transaction with writes behaves as if it ran at the instant of its commit. At this instant
//   its reads are validated against the committed data (families/buffered.h).
//
// Both instants are between begin and commit, so all results are strictly serialisable. The
// read-only anomaly of snapshot isolation cannot happen, because a transaction with writes takes
// effect at its commit and not at its snapshot.
//
// SSI (serialisable snapshot isolation) lets some transactions commit although the data that they
// have read has changed. This code does not use SSI, because SSI must keep a record of every read
// in shared memory, even after the commit. The read log of this code is private to its transaction.
//
// The structure (the data structure of an index) contains every pair of key and payload that at
// least one snapshot may see. A pair that some snapshots do not see has an entry in a map of its
// index, with the pair's lives. A life consists of the commit that inserted the pair and the commit
// that deleted it. A pair without an entry is visible to every snapshot.
//
// A commit removes deleted pairs that no snapshot can see, but only from the indexes that it
// writes. If an older snapshot is open when a pair is deleted, the pair stays in the structure at
// least until the next commit to its index.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/thread_annotations.h"
#include "runtime/concurrency/families/buffered.h"
#include "runtime/concurrency/methods.h"

namespace keydrome::runtime {

namespace {

class Mvcc final : public Buffered {
 public:
  // `latch`: how reads latch the structure, kExclusive or kShared.
  explicit Mvcc(LatchKind latch) : latch_(latch) {}

  std::unique_ptr<IndexConcurrency> make_index_concurrency() override;
  std::unique_ptr<ClientConcurrency> make_client() override;
  ErrCode begin(Transaction& transaction) override;
  Json statistics() const override;

 private:
  struct Versioned;  // an index's IndexConcurrency
  struct Snapshot;   // a transaction with its snapshot's timestamp
  class Client;

  static constexpr uint64_t kIdle = UINT64_MAX;

  bool sees(const Running* transaction, Index& index, KeydromeBytes key,
            KeydromeBytes payload) const override;
  bool unchanged(const Running& transaction, const Use& use) const override;
  ErrCode commit_reads(Running& transaction) override;
  ErrCode install(Running& transaction) override;
  void ended(Running& transaction) override;

  template <class Call>
  static void for_each_written(const Running& transaction, Call&& call);
  static void roll_back(const Running& transaction, uint64_t now);
  uint64_t oldest_snapshot();
  void collect(Index& index, uint64_t oldest);

  const LatchKind latch_;
  // The timestamp of the newest commit that is completely installed.
  std::atomic<uint64_t> clock_ = 0;
  std::atomic<uint64_t> collected_ = 0;  // number of deleted pairs removed from the structures
  Mutex snapshots_mutex_;
  // One pointer per transaction object. The objects live as long as this concurrency control.
  std::vector<const Snapshot*> snapshots_ KEYDROME_GUARDED_BY(snapshots_mutex_);
};

}  // namespace

namespace {

constexpr uint64_t kForEver = UINT64_MAX;  // the end of a life that has not ended

// The pair exists in a snapshot with timestamp t if begin <= t < end. If begin is 0, the pair
// exists in every snapshot before `end`.
struct Life {
  uint64_t begin;
  uint64_t end;
};

// A pair as one string: size of the key (one byte), key, payload.
class PairText {
 public:
  PairText(KeydromeBytes key, KeydromeBytes payload) : size_(1 + key.size + payload.size) {
    text_[0] = static_cast<char>(static_cast<uint8_t>(key.size));
    if (key.size > 0) std::memcpy(text_ + 1, key.data, key.size);
    if (payload.size > 0) std::memcpy(text_ + 1 + key.size, payload.data, payload.size);
  }
  std::string_view view() const { return {text_, size_}; }

 private:
  char text_[1 + KEYDROME_KEY_BYTES_MAX + KEYDROME_PAYLOAD_BYTES_MAX];
  size_t size_;
};

KeydromeBytes key_of(const std::string& text) {
  return {text.data() + 1, static_cast<uint8_t>(text[0])};
}
KeydromeBytes payload_of(const std::string& text) {
  const size_t key_end = 1 + size_t{static_cast<uint8_t>(text[0])};
  return {text.data() + key_end, static_cast<uint32_t>(text.size() - key_end)};
}

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// Maps each pair (as PairText) to its lives. The lives of one pair are sorted and do not overlap.
using Lives = std::unordered_map<std::string, std::vector<Life>, Hash, std::equal_to<>>;

}  // namespace

struct Mvcc::Versioned final : Content {
  explicit Versioned(LatchKind kind) : Content(kind) {}

  bool visible(KeydromeBytes key, KeydromeBytes payload, uint64_t snapshot) const {
    if (lives.empty()) return true;
    const auto found = lives.find(PairText(key, payload).view());
    if (found == lives.end()) return true;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Life& life) {
      return life.begin <= snapshot && snapshot < life.end;
    });
  }

  bool write(Index& index, const Overlay::StoredPair& name, bool inserted, uint64_t now);
  bool roll_back(Index& index, const std::string& pair, uint64_t now);
  bool reclaim(Index& index, const std::string& pair, uint64_t oldest, uint64_t& collected);

  Lives lives;  // the index's latch guards it

  struct Written {
    uint64_t at;
    std::string pair;
  };
  // The pairs that commits have written, oldest first. collect() removes their old lives. Only the
  // thread that commits uses `garbage` and `newest_commit`: one thread at a time installs writes.
  std::deque<Written> garbage;
  uint64_t newest_commit = 0;
};

struct Mvcc::Snapshot final : Running {
  // The timestamp of the snapshot; kIdle outside of a transaction.
  std::atomic<uint64_t> at = kIdle;
};

class Mvcc::Client final : public ClientConcurrency {
 public:
  Transaction& own() override { return own_; }
  Transaction& automatic() override { return automatic_; }
  Snapshot own_;
  Snapshot automatic_;
};

std::unique_ptr<IndexConcurrency> Mvcc::make_index_concurrency() {
  return std::make_unique<Versioned>(latch_);
}

std::unique_ptr<ClientConcurrency> Mvcc::make_client() {
  auto client = std::make_unique<Client>();
  const MutexLock guard(snapshots_mutex_);
  snapshots_.reserve(snapshots_.size() + 2);
  snapshots_.push_back(&client->own_);
  snapshots_.push_back(&client->automatic_);
  return client;
}

// Takes a snapshot: reads the clock, and stores its value in `at`. A commit reads the clock and
// then the `at` of all transactions, and keeps the pairs that these snapshots see. It misses this
// snapshot if it reads `at` before this thread has stored the value. It then removes pairs that
// were deleted up to the clock value that it has read. So the loop repeats until the clock has not
// changed since this thread read it. Then that commit has read no newer clock value than this
// thread, so this snapshot does not see the removed pairs either.
ErrCode Mvcc::begin(Transaction& transaction) {
  auto& self = static_cast<Snapshot&>(transaction);
  uint64_t now;
  do {
    now = clock_;
    self.at = now;
  } while (clock_ != now);
  return SUCCESS;
}

void Mvcc::ended(Running& transaction) { static_cast<Snapshot&>(transaction).at = kIdle; }

uint64_t Mvcc::oldest_snapshot() {
  uint64_t oldest = clock_;  // must be read before the snapshots, see begin()
  const MutexLock guard(snapshots_mutex_);
  for (const Snapshot* snapshot : snapshots_) oldest = std::min(oldest, snapshot->at.load());
  return oldest;
}

bool Mvcc::sees(const Running* transaction, Index& index, KeydromeBytes key,
                KeydromeBytes payload) const {
  // Without a transaction, reads the newest committed data: kForEver - 1 is later than every
  // commit.
  const uint64_t snapshot =
      transaction == nullptr ? kForEver - 1 : static_cast<const Snapshot*>(transaction)->at.load();
  return static_cast<const Versioned&>(content_of(index)).visible(key, payload, snapshot);
}

bool Mvcc::unchanged(const Running& transaction, const Use& use) const {
  return static_cast<Versioned&>(use.index->concurrency()).newest_commit <=
         static_cast<const Snapshot&>(transaction).at;
}

ErrCode Mvcc::commit_reads(Running&) { return SUCCESS; }

// If `inserted` is true, starts a life of the pair at commit `now`; otherwise ends its newest life
// at commit `now`. Older snapshots do not see the change. If memory runs out, returns false or
// throws std::bad_alloc; the caller must then call roll_back() for the pair.
bool Mvcc::Versioned::write(Index& index, const Overlay::StoredPair& name, bool inserted,
                            uint64_t now) {
  const PairText pair(name.key_bytes(), name.payload_bytes());
  garbage.push_back({now, std::string(pair.view())});
  const auto [at, is_new] = lives.try_emplace(garbage.back().pair);
  std::vector<Life>& known = at->second;
  if (!inserted) {
    if (is_new) known.push_back({0, kForEver});
    known.back().end = now;
    return true;
  }
  known.push_back({now, kForEver});
  if (!is_new) return true;  // the structure still contains the pair, for older snapshots
  changed();
  if (index.store().put(name.key_bytes(), name.payload_bytes()) == 1) return true;
  lives.erase(at);
  return false;
}

// Undoes the write of commit `now` to the pair. Returns false if memory runs out again.
bool Mvcc::Versioned::roll_back(Index& index, const std::string& pair, uint64_t now) {
  const auto at = lives.find(pair);
  if (at == lives.end()) return true;
  std::vector<Life>& known = at->second;
  if (!known.empty() && known.back().end == now) {
    known.back().end = kForEver;
    if (known.size() == 1 && known.back().begin == 0) lives.erase(at);
    return true;
  }
  if (!known.empty() && known.back().begin == now) {
    known.pop_back();
    if (!known.empty()) return true;
    changed();
    if (index.store().del(key_of(pair), payload_of(pair)) < 0) return false;
  }
  if (known.empty()) lives.erase(at);
  return true;
}

// Removes the lives that ended at or before `oldest`, because no snapshot sees them. If no life is
// left, deletes the pair from the structure. Returns false if memory runs out.
bool Mvcc::Versioned::reclaim(Index& index, const std::string& pair, uint64_t oldest,
                              uint64_t& collected) {
  const auto at = lives.find(pair);
  if (at == lives.end()) return true;  // an earlier call for the same pair has removed the entry
  std::vector<Life>& known = at->second;
  const auto alive =
      std::find_if(known.begin(), known.end(), [&](const Life& life) { return life.end > oldest; });
  if (alive == known.end()) {
    changed();
    if (index.store().del(key_of(pair), payload_of(pair)) < 0) return false;
    lives.erase(at);
    ++collected;
    return true;
  }
  known.erase(known.begin(), alive);
  if (known.front().begin <= oldest && known.front().end == kForEver) lives.erase(at);
  return true;
}

// No snapshot sees the writes of a commit until clock_ advances. A commit that runs out of memory
// can therefore roll back its writes without effect on other transactions.
ErrCode Mvcc::install(Running& transaction) {
  const uint64_t now = clock_ + 1;
  bool complete = true;
  try {
    for (size_t at = 0; complete && at < transaction.used; ++at) {
      const Use& use = *transaction.uses[at];
      if (use.overlay.empty()) continue;
      auto& versioned = static_cast<Versioned&>(content_of(*use.index));
      const WriteLatch latch(versioned.latch);
      complete = use.overlay.for_each([&](const Overlay::StoredPair& pair, bool inserted) {
        return versioned.write(*use.index, pair, inserted, now);
      });
    }
  } catch (const std::bad_alloc&) {
    complete = false;
  }
  if (!complete) {
    roll_back(transaction, now);
    return FAILURE;
  }
  for_each_written(transaction,
                   [&](Index&, Versioned& versioned) { versioned.newest_commit = now; });
  clock_ = now;
  static_cast<Snapshot&>(transaction).at = kIdle;
  const uint64_t oldest = oldest_snapshot();
  for_each_written(transaction, [&](Index& index, Versioned&) { collect(index, oldest); });
  return SUCCESS;
}

template <class Call>
void Mvcc::for_each_written(const Running& transaction, Call&& call) {
  for (size_t at = 0; at < transaction.used; ++at) {
    const Use& use = *transaction.uses[at];
    if (!use.overlay.empty()) call(*use.index, static_cast<Versioned&>(content_of(*use.index)));
  }
}

void Mvcc::roll_back(const Running& transaction, uint64_t now) {
  for_each_written(transaction, [&](Index& index, Versioned& versioned) {
    const WriteLatch latch(versioned.latch);
    std::deque<Versioned::Written>& garbage = versioned.garbage;
    for (; !garbage.empty() && garbage.back().at == now; garbage.pop_back()) {
      if (!versioned.roll_back(index, garbage.back().pair, now)) declare_broken(index);
    }
  });
}

// For the pairs in `garbage`, removes the lives that no snapshot at or after `oldest` sees.
void Mvcc::collect(Index& index, uint64_t oldest) {
  auto& versioned = static_cast<Versioned&>(content_of(index));
  std::deque<Versioned::Written>& garbage = versioned.garbage;
  if (garbage.empty() || garbage.front().at > oldest) return;
  uint64_t collected = 0;
  const WriteLatch latch(versioned.latch);
  while (!garbage.empty() && garbage.front().at <= oldest &&
         versioned.reclaim(index, garbage.front().pair, oldest, collected)) {
    garbage.pop_front();
  }
  collected_ += collected;
}

Json Mvcc::statistics() const {
  Json json = Buffered::statistics();
  json["collected"] = collected_.load();
  return json;
}

ConcurrencyMethod mvcc_method() {
  return {"mvcc", true, true, true,
          [](const ConcurrencyOptions& options) -> std::unique_ptr<Concurrency> {
            return std::make_unique<Mvcc>(options.latch);
          }};
}

}  // namespace keydrome::runtime
