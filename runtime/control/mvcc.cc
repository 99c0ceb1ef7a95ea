#include "runtime/control/mvcc.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "runtime/control/mutant.h"

namespace keydrome::runtime {

namespace {

constexpr uint64_t kForEver = UINT64_MAX;

// From which commit on a pair is there, and from which on no longer.
struct Life {
  uint64_t begin;
  uint64_t end;
};

// A pair as one text. Sizes of keys fit in a byte.
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

// The lives of one pair do not overlap and are in order.
using Lives = std::unordered_map<std::string, std::vector<Life>, Hash, std::equal_to<>>;

}  // namespace

struct Mvcc::Versioned final : Content {
  explicit Versioned(LatchKind kind) : Content(kind) {}

  bool visible(const Pair& pair, uint64_t snapshot) const {
    if (lives.empty()) return true;
    const auto found = lives.find(PairText(pair.key(), pair.payload()).view());
    if (found == lives.end()) return true;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Life& life) {
      if (mutant(35) && life.end == kForEver) {
        return static_cast<uint16_t>(life.begin) <= static_cast<uint16_t>(snapshot);
      }
      return life.begin <= snapshot && snapshot < life.end;
    });
  }

  bool write(Index& index, const Overlay::Name& name, bool inserted, uint64_t now);
  bool take_back(Index& index, const std::string& pair, uint64_t now);
  bool clear_away(Index& index, const std::string& pair, uint64_t oldest, uint64_t& collected);

  Lives lives;  // guarded by the latch

  // Both belong to who is alone in the critical section.
  struct Written {
    uint64_t at;
    std::string pair;
  };
  std::deque<Written> garbage;  // pairs with lives, in order of commits
  uint64_t newest_commit = 0;
};

struct Mvcc::Snapshot final : Running {
  // kIdle when the transaction has none.
  std::atomic<uint64_t> at = kIdle;
};

class Mvcc::Session final : public ControlSession {
 public:
  Transaction& own() override { return own_; }
  Transaction& automatic() override { return automatic_; }
  Snapshot own_;
  Snapshot automatic_;
};

std::unique_ptr<IndexControl> Mvcc::make_index_control() {
  return std::make_unique<Versioned>(latch_);
}

std::unique_ptr<ControlSession> Mvcc::make_session() {
  auto session = std::make_unique<Session>();
  const MutexLock guard(snapshots_mutex_);
  snapshots_.reserve(snapshots_.size() + 2);
  snapshots_.push_back(&session->own_);
  snapshots_.push_back(&session->automatic_);
  return session;
}

// The snapshot is announced before it counts: a commit that has not seen the announcement read the
// clock before, so it keeps whatever is visible at that time or later, and this snapshot is not
// older.
ErrCode Mvcc::begin(Transaction& transaction) {
  auto& self = static_cast<Snapshot&>(transaction);
  uint64_t now;
  do {
    now = clock_;
    self.at = now - (mutant_strikes<13>(8) && now > 0 ? 1 : 0);
  } while (clock_ != now);
  return SUCCESS;
}

void Mvcc::ended(Running& transaction) { static_cast<Snapshot&>(transaction).at = kIdle; }

uint64_t Mvcc::oldest_snapshot() {
  uint64_t oldest = clock_;  // before the snapshots, see begin
  const MutexLock guard(snapshots_mutex_);
  for (const Snapshot* snapshot : snapshots_) oldest = std::min(oldest, snapshot->at.load());
  return oldest;
}

int Mvcc::next_committed(const Running* transaction, Index& index, KeydromePosition& position,
                         Pair& pair) {
  const auto& versioned = static_cast<const Versioned&>(content_of(index));
  const uint64_t snapshot =
      transaction == nullptr ? kForEver - 1 : static_cast<const Snapshot*>(transaction)->at.load();
  for (;;) {
    const int found = read_next(index.store(), position, pair);
    if (found <= 0 || versioned.visible(pair, snapshot)) return found;
  }
}

bool Mvcc::unchanged(const Running& transaction, const Use& use) const {
  return static_cast<Versioned&>(use.index->control()).newest_commit <=
         static_cast<const Snapshot&>(transaction).at;
}

ErrCode Mvcc::commit_reads(Running&) { return SUCCESS; }

// Lets the pair begin or end with commit `now`; later commits only see that. False, or
// std::bad_alloc, for want of memory: `take_back` makes good what was begun.
bool Mvcc::Versioned::write(Index& index, const Overlay::Name& name, bool inserted, uint64_t now) {
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
  if (!is_new) return true;  // the structure has it still, for older snapshots
  ++changes;
  if (index.store().put(name.key_bytes(), name.payload_bytes()) == 1) return true;
  lives.erase(at);
  return false;
}

// Makes commit `now` not have written the pair. False when even that needs memory.
bool Mvcc::Versioned::take_back(Index& index, const std::string& pair, uint64_t now) {
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
    ++changes;
    if (index.store().del(key_of(pair), payload_of(pair)) < 0) return false;
  }
  if (known.empty()) lives.erase(at);
  return true;
}

// Forgets what nobody sees who reads at `oldest` or later. False when that needs memory.
bool Mvcc::Versioned::clear_away(Index& index, const std::string& pair, uint64_t oldest,
                                 uint64_t& collected) {
  const auto at = lives.find(pair);
  if (at == lives.end()) return true;  // written again and cleared away by a later commit
  std::vector<Life>& known = at->second;
  const auto alive =
      std::find_if(known.begin(), known.end(), [&](const Life& life) { return life.end > oldest; });
  if (alive == known.end()) {
    ++changes;
    if (index.store().del(key_of(pair), payload_of(pair)) < 0) return false;
    lives.erase(at);
    ++collected;
    return true;
  }
  known.erase(known.begin(), alive);
  if (known.front().begin <= oldest && known.front().end == kForEver) lives.erase(at);
  return true;
}

// All writes of a commit stay unseen until the clock has moved on, so one that runs out of memory
// takes them back unseen.
ErrCode Mvcc::install(Running& transaction) {
  const uint64_t now = clock_ + 1;
  if (mutant(11)) clock_ = now;
  bool complete = true;
  try {
    for (size_t at = 0; complete && at < transaction.used; ++at) {
      const Use& use = *transaction.uses[at];
      if (use.overlay.empty()) continue;
      auto& versioned = static_cast<Versioned&>(content_of(*use.index));
      const WriteLatch latch(versioned.latch);
      if (mutant(11)) std::this_thread::yield();
      complete = use.overlay.for_each([&](const Overlay::Name& name, bool inserted) {
        return versioned.write(*use.index, name, inserted, now);
      });
    }
  } catch (const std::bad_alloc&) {
    complete = false;
  }
  if (!complete) {
    take_back(transaction, now);
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

void Mvcc::take_back(const Running& transaction, uint64_t now) {
  for_each_written(transaction, [&](Index& index, Versioned& versioned) {
    const WriteLatch latch(versioned.latch);
    std::deque<Versioned::Written>& garbage = versioned.garbage;
    for (; !garbage.empty() && garbage.back().at == now; garbage.pop_back()) {
      if (!versioned.take_back(index, garbage.back().pair, now)) declare_broken(index);
    }
  });
}

void Mvcc::collect(Index& index, uint64_t oldest) {
  auto& versioned = static_cast<Versioned&>(content_of(index));
  std::deque<Versioned::Written>& garbage = versioned.garbage;
  if (garbage.empty() || garbage.front().at > oldest) return;
  uint64_t collected = 0;
  const WriteLatch latch(versioned.latch);
  while (!garbage.empty() && garbage.front().at <= oldest &&
         versioned.clear_away(index, garbage.front().pair, oldest, collected)) {
    garbage.pop_front();
  }
  collected_ += collected;
}

Json Mvcc::statistics() const {
  Json json = Buffered::statistics();
  json["collected"] = collected_.load();
  return json;
}

}  // namespace keydrome::runtime
