#include "benchmarks/differential/generator.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "benchmarks/differential/key_universe.h"
#include "benchmarks/kit/letters.h"
#include "benchmarks/kit/rng.h"

namespace keydrome::differential {
namespace {

constexpr std::array<KeyType, 3> kTypes = {SHORT, INT, VARCHAR};
constexpr uint8_t kSecondHandles = 3;  // slot of a second handle: that of the first plus this
constexpr uint8_t kMissingSlot = 7;    // for openIndex of the index that nobody creates
constexpr uint32_t kIndexesMax = 3;    // of a round
constexpr std::size_t kLongest = MAX_PAYLOAD_LEN - kTagBytes;
constexpr std::size_t kTextsDrawn = 24;

// Payload texts of every length. The last two have the full length and differ in their last byte.
std::vector<std::string> draw_texts(Rng& rng) {
  std::vector<std::string> texts = {"", "\x01", "\xff"};
  for (std::size_t i = 0; i < kTextsDrawn; ++i) {
    texts.push_back(letters().text(rng, 1 + rng.below(kLongest)));
  }
  texts.push_back(letters().text(rng, kLongest));
  texts.push_back(texts.back());
  texts.back().back() = '.';
  return texts;
}

struct Shape {
  uint32_t calls, keys;
};

// Small rounds come to strange places soon, large ones to splits and long scans.
Shape draw_shape(Rng& rng) {
  const uint64_t dice = rng.below(100);
  if (dice < 70)
    return {static_cast<uint32_t>(rng.between(40, 400)), 2 + static_cast<uint32_t>(rng.below(5))};
  if (dice < 96)
    return {static_cast<uint32_t>(rng.between(500, 2'000)),
            8 + static_cast<uint32_t>(rng.below(40))};
  return {5'000, 600};
}

// What a payload is made of.
struct Pair {
  uint32_t tag, text;
};

// An index of a round, with what was ever inserted under each key.
struct Arena {
  uint16_t index = 0;
  uint8_t slot = 0;
  uint32_t first_key = 0;
  std::vector<std::vector<Pair>> used;  // by key
};

class RoundWriter {
 public:
  RoundWriter(Case& session, uint32_t& next_tag, uint64_t seed, uint32_t number)
      : session_(session), next_tag_(next_tag), rng_(seed, number, Purpose::kStream) {}

  void write() {
    const Shape shape = draw_shape(rng_);
    end_ = session_.calls.size() + shape.calls;
    second_handles_ = rng_.below(10) == 0;
    const auto indexes =
        static_cast<uint8_t>(rng_.below(10) < 6 ? 1 : 2 + rng_.below(kIndexesMax - 1));
    for (uint8_t i = 0; i < indexes; ++i) arenas_.push_back(add_arena(i, shape.keys));
    while (session_.calls.size() < end_) step();
    if (in_transaction_) end_transaction();
    read_back();
    for (const Arena& arena : arenas_) add(CallKind::kClose, arena, 0);
    if (!second_handles_) return;
    for (const Arena& arena : arenas_) add(CallKind::kClose, arena, kSecondHandles);
  }

 private:
  Arena add_arena(uint8_t slot, uint32_t keys) {
    Arena arena{.index = static_cast<uint16_t>(session_.indexes.size()),
                .slot = slot,
                .first_key = static_cast<uint32_t>(session_.keys.size()),
                .used = std::vector<std::vector<Pair>>(keys)};
    const KeyType type = kTypes[rng_.below(kTypes.size())];
    session_.indexes.push_back(type);
    for (KeyValue& key : draw_keys(type, keys, rng_)) session_.keys.push_back(std::move(key));
    add(CallKind::kCreate, arena, 0);
    add(CallKind::kOpen, arena, 0);
    if (second_handles_) add(CallKind::kOpen, arena, kSecondHandles);
    return arena;
  }

  void add(CallKind kind, const Arena& arena, uint8_t handle, uint32_t key = 0, Pair pair = {}) {
    session_.calls.push_back({.kind = kind,
                              .slot = static_cast<uint8_t>(arena.slot + handle),
                              .index = arena.index,
                              .key = arena.first_key + key,
                              .tag = pair.tag,
                              .text = pair.text});
  }

  void step() {
    const uint64_t dice = rng_.below(1000);
    if (in_transaction_ && dice < 110) return end_transaction();
    if (!in_transaction_ && dice < 500) return begin();
    Arena& arena = arenas_[rng_.below(arenas_.size())];
    if (dice >= 990) return reopen(arena);
    if (dice >= 985 && !in_transaction_) return misplaced(arena);
    data_calls(arena);
  }

  void begin() {
    session_.calls.push_back({.kind = CallKind::kBegin});
    in_transaction_ = true;
  }

  void end_transaction() {
    const bool aborts = rng_.below(4) == 0;
    session_.calls.push_back({.kind = aborts ? CallKind::kAbort : CallKind::kCommit});
    in_transaction_ = false;
  }

  void reopen(const Arena& arena) {
    const uint8_t handle = draw_handle();
    add(CallKind::kClose, arena, handle);
    add(CallKind::kOpen, arena, handle);
  }

  // What must be refused: an index that is there already, and one that is not.
  void misplaced(const Arena& arena) {
    if (rng_.below(2) == 0) return add(CallKind::kCreate, arena, 0);
    session_.calls.push_back(
        {.kind = CallKind::kOpen, .slot = kMissingSlot, .index = kMissingIndex});
  }

  uint8_t draw_handle() {
    return second_handles_ && rng_.below(3) == 0 ? kSecondHandles : uint8_t{0};
  }

  // The lower its number, the more often a key is drawn.
  uint32_t draw_key(const Arena& arena) {
    return static_cast<uint32_t>(rng_.below(1 + rng_.below(arena.used.size())));
  }

  void data_calls(Arena& arena) {
    const uint8_t handle = draw_handle();
    const uint32_t key = draw_key(arena);
    const uint64_t dice = rng_.below(100);
    if (dice < 26) return add(CallKind::kGet, arena, handle, key);
    if (dice < 50) return scan(arena, handle, 1 + rng_.below(4));
    if (dice < 53) return scan(arena, handle, arena.used.size() + 4);
    if (dice < 83) return insert(arena, handle, key);
    if (dice < 93) return delete_pair(arena, handle, key);
    add(CallKind::kDeleteKey, arena, handle, key);
  }

  void scan(const Arena& arena, uint8_t handle, uint64_t steps) {
    // Outside a transaction every step would be the first one.
    const uint64_t calls = in_transaction_ ? std::min<uint64_t>(steps, 100) : 1;
    for (uint64_t i = 0; i < calls; ++i) add(CallKind::kNext, arena, handle);
  }

  void insert(Arena& arena, uint8_t handle, uint32_t key) {
    std::vector<Pair>& used = arena.used[key];
    const uint64_t dice = rng_.below(10);
    Pair pair = dice < 3 && !used.empty() ? used[rng_.below(used.size())] : new_pair(arena);
    used.push_back(pair);
    add(CallKind::kInsert, arena, handle, key, pair);
  }

  void delete_pair(Arena& arena, uint8_t handle, uint32_t key) {
    const std::vector<Pair>& used = arena.used[key];
    const bool known = rng_.below(5) != 0 && !used.empty();
    // The last ones are there most often.
    const std::size_t recent = std::min<std::size_t>(used.size(), 3);
    const Pair pair = known ? used[used.size() - 1 - rng_.below(recent)] : new_pair(arena);
    add(CallKind::kDeletePair, arena, handle, key, pair);
  }

  // A payload that this key never had: a new one, that of another key, or one that differs from an
  // earlier payload of the round in its last byte.
  Pair new_pair(const Arena& arena) {
    const auto last = static_cast<uint32_t>(session_.texts.size() - 1);
    const uint64_t dice = rng_.below(10);
    if (dice == 0) {
      const std::vector<Pair>& other = arena.used[draw_key(arena)];
      if (!other.empty()) return other.back();
    }
    if (dice == 1 && twin_.tag != 0) {
      const Pair twin{twin_.tag, last};
      twin_ = {};
      return twin;
    }
    const Pair pair{next_tag_++, static_cast<uint32_t>(rng_.below(last))};
    if (pair.text + 1 == last) twin_ = pair;
    return pair;
  }

  // What is there at the end: what nobody read again must not be lost.
  void read_back() {
    begin();
    for (const Arena& arena : arenas_) {
      uint64_t records = 1;
      for (const std::vector<Pair>& used : arena.used) records += used.size();
      for (uint64_t i = 0; i < records; ++i) add(CallKind::kNext, arena, 0);
    }
    session_.calls.push_back({.kind = CallKind::kCommit});
    in_transaction_ = false;
  }

  Case& session_;
  uint32_t& next_tag_;
  Rng rng_;
  std::vector<Arena> arenas_;
  std::size_t end_ = 0;  // from which call on the round comes to its end
  bool in_transaction_ = false, second_handles_ = false;
  Pair twin_{};  // the last payload with the text before the last one
};

}  // namespace

Generated generate(uint64_t calls, uint64_t seed) {
  Generated generated;
  Case& session = generated.session;
  session.indexes.push_back(SHORT);  // kMissingIndex
  Rng rng(seed, 0, Purpose::kPools);
  session.texts = draw_texts(rng);
  uint32_t next_tag = 1;
  while (session.calls.size() < calls) {
    const auto first = static_cast<uint32_t>(session.calls.size());
    const auto number = static_cast<uint32_t>(generated.rounds.size());
    RoundWriter(session, next_tag, seed, number).write();
    generated.rounds.push_back({first, static_cast<uint32_t>(session.calls.size())});
  }
  return generated;
}

}  // namespace keydrome::differential
