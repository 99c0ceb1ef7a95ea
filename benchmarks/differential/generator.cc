// Implements the generator of random calls. A round is a part of these calls that begins and ends
// with empty indexes. RandomRound chooses the calls of a round at random. LargeRound writes
// transactions with thousands of changes.
#include "benchmarks/differential/generator.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "benchmarks/differential/key_universe.h"
#include "benchmarks/kit/workload/random_text.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::differential {
namespace {

constexpr std::array<KeyType, 3> kTypes = {SHORT, INT, VARCHAR};
// The player, the process that makes the calls, keeps each open handle in a numbered slot. The slot
// of an index's second handle is the slot of its first handle plus this number.
constexpr uint8_t kSecondHandles = 3;
constexpr uint8_t kMissingSlot = 7;  // slot for opening kMissingIndex
constexpr uint32_t kIndexesMax = 3;  // maximum number of indexes of a round
// Rounds reuse at most this many indexes of each key type. A library may need a file descriptor or
// a memory area for each index, so more indexes could exceed its limits.
constexpr uint32_t kNamesPerType = 30;
// The probability, in thousandths, that the next calls of a round end the open transaction. On
// average, one round in kLongEvery uses the lower probability, so that its transactions have
// hundreds of calls.
constexpr uint64_t kEndsPerMille = 110, kEndsLongPerMille = 4;
constexpr uint64_t kLongEvery = 8;
// The last round of a long session has the largest transactions that every library must support:
// kLargeKeys keys with up to kLargePayloads records each. Sessions with fewer than kLargeFrom
// calls, such as those of tests, have no such round.
constexpr uint64_t kLargeFrom = 100'000;
constexpr uint32_t kLargeKeys = 1'000, kLargePayloads = 10;
constexpr std::size_t kLongest = MAX_PAYLOAD_LEN - format::kTagBytes;
constexpr std::size_t kRandomTexts = 24;

// Returns payload texts of many lengths. The last two texts have the full length and differ in
// their last byte.
std::vector<std::string> random_texts(workload::Rng& rng) {
  std::vector<std::string> texts = {"", "\x01", "\xff"};
  for (std::size_t i = 0; i < kRandomTexts; ++i) {
    texts.push_back(workload::letters().text(rng, 1 + rng.below(kLongest)));
  }
  texts.push_back(workload::letters().text(rng, kLongest));
  texts.push_back(texts.back());
  texts.back().back() = '.';
  return texts;
}

struct Scale {
  uint32_t calls, keys;
};

// Chooses the size of a round. Small rounds quickly reach unusual states. Large rounds reach splits
// of nodes and long scans.
Scale random_scale(workload::Rng& rng) {
  const uint64_t percentile = rng.below(100);
  if (percentile < 70)
    return {static_cast<uint32_t>(rng.between(40, 400)), 2 + static_cast<uint32_t>(rng.below(5))};
  if (percentile < 96)
    return {static_cast<uint32_t>(rng.between(500, 2'000)),
            8 + static_cast<uint32_t>(rng.below(40))};
  return {5'000, 600};
}

// A payload: its unique number (tag), and the number of the text that follows the tag.
struct Pair {
  uint32_t tag, text;
};

// An index of a round, with all payloads that were inserted under each key.
struct RoundIndex {
  uint16_t index = 0;
  uint8_t slot = 0;
  uint32_t first_key = 0;
  std::vector<std::vector<Pair>> used;  // by key: payloads that were inserted
};

// By key type: how many indexes the rounds have used so far, including reused ones.
using Uses = std::array<uint32_t, kTypes.size()>;

// Writes the calls of one round. The derived classes choose the calls.
class RoundWriter {
 public:
  RoundWriter(Case& session, Uses& uses, uint32_t& next_tag, uint64_t seed, uint32_t number)
      : session_(session),
        uses_(uses),
        next_tag_(next_tag),
        rng_(seed, number, workload::Purpose::kStream) {}

 protected:
  RoundIndex add_index(uint8_t slot, uint32_t keys) {
    RoundIndex index{.index = static_cast<uint16_t>(session_.indexes.size()),
                     .slot = slot,
                     .first_key = static_cast<uint32_t>(session_.keys.size()),
                     .used = std::vector<std::vector<Pair>>(keys)};
    const KeyType type = kTypes[rng_.below(kTypes.size())];
    session_.indexes.push_back(type);
    const uint32_t use = uses_.at(static_cast<std::size_t>(type))++;
    session_.names.push_back("type" + std::to_string(type) + "-" +
                             std::to_string(use % kNamesPerType));
    session_.reuses.push_back(use >= kNamesPerType);
    for (KeyValue& key : random_keys(type, keys, rng_)) session_.keys.push_back(std::move(key));
    add(CallKind::kCreate, index, 0);
    add(CallKind::kOpen, index, 0);
    if (second_handles_) add(CallKind::kOpen, index, kSecondHandles);
    return index;
  }

  void add(CallKind kind, const RoundIndex& index, uint8_t handle, uint32_t key = 0,
           Pair pair = {}) {
    session_.calls.push_back({.kind = kind,
                              .slot = static_cast<uint8_t>(index.slot + handle),
                              .index = index.index,
                              .key = index.first_key + key,
                              .tag = pair.tag,
                              .text = pair.text});
  }

  void begin() {
    session_.calls.push_back({.kind = CallKind::kBegin});
    in_transaction_ = true;
  }

  void end_transaction(CallKind how) {
    session_.calls.push_back({.kind = how});
    in_transaction_ = false;
  }

  // Reads all records at the end, so that a lost record is found even if no other call reads it.
  void read_back() {
    begin();
    for (const RoundIndex& index : indexes_) {
      uint64_t records = 1;
      for (const std::vector<Pair>& used : index.used) records += used.size();
      for (uint64_t i = 0; i < records; ++i) add(CallKind::kNext, index, 0);
    }
    session_.calls.push_back({.kind = CallKind::kCommit});
    in_transaction_ = false;
  }

  // Deletes all records, because a later round may use the index.
  void empty() {
    begin();
    for (const RoundIndex& index : indexes_) {
      for (uint32_t key = 0; key < index.used.size(); ++key) {
        if (!index.used[key].empty()) add(CallKind::kDeleteKey, index, 0, key);
      }
      add(CallKind::kNext, index, 0);
    }
    session_.calls.push_back({.kind = CallKind::kCommit});
    in_transaction_ = false;
  }

  void close_all() {
    for (const RoundIndex& index : indexes_) add(CallKind::kClose, index, 0);
    if (!second_handles_) return;
    for (const RoundIndex& index : indexes_) add(CallKind::kClose, index, kSecondHandles);
  }

  Case& session_;
  Uses& uses_;
  uint32_t& next_tag_;
  workload::Rng rng_;
  std::vector<RoundIndex> indexes_;
  bool in_transaction_ = false, second_handles_ = false;
};

// Writes a round of random calls.
class RandomRound : public RoundWriter {
 public:
  using RoundWriter::RoundWriter;

  void write() {
    const Scale scale = random_scale(rng_);
    end_ = session_.calls.size() + scale.calls;
    second_handles_ = rng_.below(10) == 0;
    ends_per_mille_ = rng_.below(kLongEvery) == 0 ? kEndsLongPerMille : kEndsPerMille;
    const auto indexes =
        static_cast<uint8_t>(rng_.below(10) < 6 ? 1 : 2 + rng_.below(kIndexesMax - 1));
    for (uint8_t i = 0; i < indexes; ++i) indexes_.push_back(add_index(i, scale.keys));
    while (session_.calls.size() < end_) step();
    if (in_transaction_) end_at_random();
    read_back();
    empty();
    close_all();
  }

 private:
  void step() {
    const uint64_t per_mille = rng_.below(1000);
    if (in_transaction_ && per_mille < ends_per_mille_) return end_at_random();
    if (!in_transaction_ && per_mille < 500) return begin();
    RoundIndex& index = indexes_[rng_.below(indexes_.size())];
    if (per_mille >= 990) return reopen(index);
    if (per_mille >= 985 && !in_transaction_) return failing_call(index);
    data_calls(index);
  }

  void end_at_random() {
    end_transaction(rng_.below(4) == 0 ? CallKind::kAbort : CallKind::kCommit);
  }
  void reopen(const RoundIndex& index) {
    const uint8_t handle = random_handle();
    add(CallKind::kClose, index, handle);
    add(CallKind::kOpen, index, handle);
  }

  // Makes a call that must fail: create of an existing index, or open of a missing index.
  void failing_call(const RoundIndex& index) {
    if (rng_.below(2) == 0) return add(CallKind::kCreate, index, 0);
    session_.calls.push_back(
        {.kind = CallKind::kOpen, .slot = kMissingSlot, .index = kMissingIndex});
  }

  uint8_t random_handle() {
    return second_handles_ && rng_.below(3) == 0 ? kSecondHandles : uint8_t{0};
  }

  // Returns the number of a random key. Low numbers are more frequent.
  uint32_t random_key(const RoundIndex& index) {
    return static_cast<uint32_t>(rng_.below(1 + rng_.below(index.used.size())));
  }

  void data_calls(RoundIndex& index) {
    const uint8_t handle = random_handle();
    const uint32_t key = random_key(index);
    const uint64_t percentile = rng_.below(100);
    if (percentile < 26) return add(CallKind::kGet, index, handle, key);
    if (percentile < 50) return scan(index, handle, 1 + rng_.below(4));
    if (percentile < 53) return scan(index, handle, index.used.size() + 4);
    if (percentile < 83) return insert(index, handle, key);
    if (percentile < 93) return delete_pair(index, handle, key);
    add(CallKind::kDeleteKey, index, handle, key);
  }

  void scan(const RoundIndex& index, uint8_t handle, uint64_t steps) {
    // Outside a transaction every getNext returns the first record.
    const uint64_t calls = in_transaction_ ? std::min<uint64_t>(steps, 100) : 1;
    for (uint64_t i = 0; i < calls; ++i) add(CallKind::kNext, index, handle);
  }

  void insert(RoundIndex& index, uint8_t handle, uint32_t key) {
    std::vector<Pair>& used = index.used[key];
    const uint64_t choice = rng_.below(10);
    Pair pair = choice < 3 && !used.empty() ? used[rng_.below(used.size())] : new_pair(index);
    used.push_back(pair);
    add(CallKind::kInsert, index, handle, key, pair);
  }

  void delete_pair(RoundIndex& index, uint8_t handle, uint32_t key) {
    const std::vector<Pair>& used = index.used[key];
    const bool known = rng_.below(5) != 0 && !used.empty();
    // The payload is one of the last three that were inserted, because these payloads are the most
    // likely to exist.
    const std::size_t recent = std::min<std::size_t>(used.size(), 3);
    const Pair pair = known ? used[used.size() - 1 - rng_.below(recent)] : new_pair(index);
    add(CallKind::kDeletePair, index, handle, key, pair);
  }

  // Returns a payload for a key. The payload is new, belongs to another key, or differs from an
  // earlier payload of the round only in its last byte.
  Pair new_pair(const RoundIndex& index) {
    const auto last = static_cast<uint32_t>(session_.texts.size() - 1);
    const uint64_t choice = rng_.below(10);
    if (choice == 0) {
      const std::vector<Pair>& other = index.used[random_key(index)];
      if (!other.empty()) return other.back();
    }
    if (choice == 1 && twin_.tag != 0) {
      const Pair twin{twin_.tag, last};
      twin_ = {};
      return twin;
    }
    const Pair pair{next_tag_++, static_cast<uint32_t>(rng_.below(last))};
    if (pair.text + 1 == last) twin_ = pair;
    return pair;
  }

  uint64_t ends_per_mille_ = kEndsPerMille;
  std::size_t end_ = 0;  // number of calls at which the round ends
  // The newest payload that has the next-to-last text. The last text differs from the next-to-last
  // text in one byte.
  Pair twin_{};
};

// Writes a round whose transactions have thousands of changes. The first transaction inserts
// records and aborts. The second inserts as many and commits. The third deletes these records and
// aborts. empty() then deletes them and commits.
class LargeRound : public RoundWriter {
 public:
  using RoundWriter::RoundWriter;

  void write() {
    indexes_.push_back(add_index(0, kLargeKeys));
    const auto payloads = static_cast<uint32_t>(rng_.between(kLargePayloads / 2, kLargePayloads));
    fill(indexes_.front(), payloads);
    end_transaction(CallKind::kAbort);
    read_back();
    for (std::vector<Pair>& used : indexes_.front().used) used.clear();
    fill(indexes_.front(), payloads);
    end_transaction(CallKind::kCommit);
    begin();
    for (uint32_t key = 0; key < kLargeKeys; ++key)
      add(CallKind::kDeleteKey, indexes_.front(), 0, key);
    end_transaction(CallKind::kAbort);
    read_back();
    empty();
    close_all();
  }

 private:
  // Begins a transaction that inserts new payloads under each key.
  void fill(RoundIndex& index, uint32_t payloads) {
    begin();
    for (uint32_t i = 0; i < payloads * kLargeKeys; ++i) {
      const Pair pair{next_tag_++, static_cast<uint32_t>(rng_.below(session_.texts.size()))};
      index.used[i % kLargeKeys].push_back(pair);
      add(CallKind::kInsert, index, 0, i % kLargeKeys, pair);
    }
  }
};

}  // namespace

Generated generate(uint64_t calls, uint64_t seed) {
  Generated generated;
  Case& session = generated.session;
  session.indexes.push_back(SHORT);  // kMissingIndex
  session.names.emplace_back("missing");
  session.reuses.push_back(false);
  workload::Rng rng(seed, 0, workload::Purpose::kPools);
  session.texts = random_texts(rng);
  uint32_t next_tag = 1;
  Uses uses{};
  const auto add_round = [&]<class Kind>(std::type_identity<Kind>) {
    const auto first = static_cast<uint32_t>(session.calls.size());
    const auto number = static_cast<uint32_t>(generated.rounds.size());
    Kind(session, uses, next_tag, seed, number).write();
    generated.rounds.push_back({first, static_cast<uint32_t>(session.calls.size())});
  };
  while (session.calls.size() < calls) add_round(std::type_identity<RandomRound>());
  if (calls >= kLargeFrom) add_round(std::type_identity<LargeRound>());
  return generated;
}

}  // namespace keydrome::differential
