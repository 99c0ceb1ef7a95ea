// Tests that the judge's shortcut for results that are certainly right (judge/known_records.h)
// never changes a finding. Random programs are played on faulty libraries, and some reported words
// (results of calls) are changed. The findings must be the same with and without the shortcut.
#include "benchmarks/kit/judge/known_records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/keys/sort_notes.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome {
namespace {

using testing::Faults;
using testing::play;
using workload::Rng;

constexpr uint32_t kKeys = 40;  // of each type
constexpr std::array<KeyType, 3> kTypes = {SHORT, INT, VARCHAR};

// Writes a random program for two threads. The second thread begins when the first has ended, so
// that equal seeds give equal results. The judge does not know this: to it, both run concurrently.
class RandomProgram {
 public:
  explicit RandomProgram(Rng& rng) : rng_(rng) {
    script_.add_class("check");
    for (const KeyType type : kTypes)
      indexes_.push_back(script_.add_index("index" + std::to_string(type), type));
    for (uint32_t i = 0; i < kKeys; ++i) {
      const auto number = static_cast<int32_t>(i * 7 % kKeys) - int32_t{kKeys / 2};
      keys_[SHORT].push_back(script_.add_int32_key(number));
      keys_[INT].push_back(script_.add_int64_key(int64_t{number} << 33));
      keys_[VARCHAR].push_back(script_.add_varchar_key("key " + std::to_string(i * 7 % kKeys)));
    }
    keys_[INT].push_back(script_.add_int64_key(0));  // an equal key with another number
    for (const char* text : {"", "a", "text", "a text of some thirty-five letters"})
      texts_.push_back(script_.add_text(text));
    script::ThreadBuilder create = script_.thread(script_.add_phase("create", 1, {}), 0);
    for (const uint32_t index : indexes_) create.create(index);
    for (const char* phase : {"fill", "test", "more"}) write_phase(phase);
    script::add_verify_phase(script_, 1, 0);
  }

  script::Script build() { return script_.build(); }

 private:
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(rng_.below(bound)); }

  void write_phase(const std::string& name) {
    constexpr uint32_t kThreads = 2, kTransactions = 60;
    const uint32_t phase = script_.add_phase(name, kThreads, {.timed = true});
    for (uint32_t number = 0; number < kThreads; ++number) {
      script::ThreadBuilder thread = script_.thread(phase, number);
      if (number > 0) thread.wait(number - 1, 1);
      for (uint8_t slot = 0; slot < indexes_.size(); ++slot) thread.open(slot, indexes_[slot]);
      for (uint32_t i = 0; i < kTransactions; ++i) write_transaction(thread, name == "fill");
      for (uint8_t slot = 0; slot < indexes_.size(); ++slot) thread.close(slot);
      thread.signal(number);
    }
  }

  void write_transaction(script::ThreadBuilder& thread, bool fills) {
    constexpr std::array kKinds = {format::Kind::kStream, format::Kind::kStream,
                                   format::Kind::kStripe, format::Kind::kCanary};
    const format::Kind kind = kKinds[below(kKinds.size())];
    thread.auto_commit_as(kind, 0);
    if (below(3) == 0) return write_op(thread, fills);
    constexpr std::array<uint8_t, 4> kFlags = {0, 0, format::kOneAttempt,
                                               format::kOneAttempt | format::kAnyCode};
    const uint8_t flags = kFlags[below(kFlags.size())];
    thread.begin(kind, 0, kind == format::Kind::kStream ? flags : uint8_t{0});
    for (uint32_t ops = below(8); ops > 0; --ops) write_op(thread, fills);
    below(6) == 0 ? thread.abort() : thread.commit();
  }

  void write_op(script::ThreadBuilder& thread, bool fills) {
    const auto slot = static_cast<uint8_t>(below(3));
    const std::vector<uint32_t>& keys = keys_[kTypes[slot]];
    // Half of the keys are written only in the first phase.
    const auto written = static_cast<uint32_t>(fills ? keys.size() : keys.size() / 2);
    const uint32_t any = keys[below(static_cast<uint32_t>(keys.size()))];
    const uint32_t key = keys[keys.size() - 1 - below(written)];
    const uint32_t what = fills ? 6 : below(12);
    if (what < 5) return thread.get(slot, any);
    if (what < 6) return thread.next(slot, 1 + below(4));
    if (what < 9) return insert(thread, slot, key);
    if (what < 11 || payloads_.empty()) return thread.delete_key(slot, key);
    thread.delete_pair(slot, key, payloads_[below(static_cast<uint32_t>(payloads_.size()))]);
  }

  void insert(script::ThreadBuilder& thread, uint8_t slot, uint32_t key) {
    const bool again = below(8) == 0 && !payloads_.empty();
    const script::Payload payload =
        again ? payloads_.back() : script_.new_payload(texts_[below(4)]);
    if (!again) payloads_.push_back(payload);
    thread.insert(slot, key, payload, format::kMayExist);
  }

  Rng& rng_;
  script::ScriptBuilder script_;
  std::vector<uint32_t> indexes_, texts_;
  std::array<std::vector<uint32_t>, 3> keys_;
  std::vector<script::Payload> payloads_;
};

// Changes about one word (the reported result of a call) in fifty: flips one of its bits, or
// replaces it by the word of another call.
void change_words(Rng& rng, script::Outcome& outcome) {
  for (script::PhaseOutcome& phase : outcome.phases) {
    for (script::ThreadResult& thread : phase.threads) {
      for (uint64_t& word : thread.words) {
        if (rng.below(50) != 0) continue;
        const uint64_t other = thread.words[rng.below(thread.words.size())];
        word = rng.below(2) == 0 ? other : word ^ uint64_t{1} << rng.below(64);
      }
    }
  }
}

class Judged {
 public:
  Judged(const script::Script& script, const script::Outcome& outcome)
      : script_(script),
        outcome_(outcome),
        ranks_(script.pools),
        expected_(script, ranks_, outcome) {}

  judge::Findings findings(bool shortcut) const {
    judge::Findings findings;
    judge::judge_words(script_, ranks_, expected_, outcome_, findings, shortcut);
    return findings;
  }
  const judge::ExpectedState& expected() const { return expected_; }
  const judge::KeyRanks& ranks() const { return ranks_; }

 private:
  const script::Script& script_;
  const script::Outcome& outcome_;
  const judge::KeyRanks ranks_;
  const judge::ExpectedState expected_;
};

constexpr std::array<Faults, 12> kFaults = {{{},
                                             {.keeps_aborted = true},
                                             {.loses_aborted_deletes = true},
                                             {.unordered = true},
                                             {.misses_everything = true},
                                             {.accepts_duplicates = true},
                                             {.deletes_missing = true},
                                             {.keeps_deleted = true},
                                             {.denies_deletes = true},
                                             {.drops_every = 7},
                                             {.changes_payload_every = 7},
                                             {.wrong_key_every = 7}}};

TEST(KnownRecords, NeverChangeAFinding) {
  std::size_t with_findings = 0;
  for (uint64_t seed = 0; seed < 4 * kFaults.size(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, 0, workload::Purpose::kStream);
    const script::Script script = RandomProgram(rng).build();
    script::Outcome outcome = play(script, testing::test_index(kFaults[seed % kFaults.size()]));
    if (seed >= 2 * kFaults.size()) change_words(rng, outcome);
    const Judged judged(script, outcome);
    const judge::Findings all = judged.findings(false);
    EXPECT_EQ(testing::text_of(judged.findings(true)), testing::text_of(all));
    with_findings += all.empty() ? 0 : 1;
  }
  EXPECT_GT(with_findings, 2 * kFaults.size());
}

TEST(KnownRecords, KnowMostResultsOfARightLibrary) {
  Rng rng(1, 0, workload::Purpose::kStream);
  const script::Script script = RandomProgram(rng).build();
  const script::Outcome outcome = play(script, testing::test_index({}));
  const Judged judged(script, outcome);
  EXPECT_TRUE(judged.findings(false).empty()) << testing::text_of(judged.findings(false));
  const judge::KnownRecords known(script, judged.ranks(), judged.expected());
  uint64_t inserts = 0, gets = 0;
  for (const judge::Change& change : judged.expected().changes()) {
    format::Op op{};
    op.code = format::OpCode::kInsert;
    op.argument = change.tag;
    inserts += known.is_right_insert(op, format::code_word(SUCCESS)) ? 1 : 0;
    op.key = change.number;
    EXPECT_FALSE(known.is_right_get(op, change.index, 1, 0, format::code_word(KEY_NOTFOUND)));
    std::array<char, MAX_PAYLOAD_LEN + 1> payload{};
    format::write_tag(change.tag, payload.data());
    const std::string_view text = script.pools.payloads[change.text];
    text.copy(payload.data() + format::kTagBytes, text.size());
    op.payload = 8;
    const uint64_t word = format::get_word(payload.data(), op.payload, SUCCESS);
    gets += known.is_right_get(op, change.index, 3, 0, word) ? 1 : 0;
    EXPECT_FALSE(known.is_right_get(op, change.index + 1, 3, 0, word));
    EXPECT_FALSE(known.is_right_get(op, change.index, 0, 0, word));
  }
  EXPECT_GT(inserts, judged.expected().changes().size() / 3);
  EXPECT_GT(gets, 5u);
}

// The writer inserts a record after it has read the key, so its own read cannot have returned the
// record. The read of another thread can, because the threads run at the same time. The numbers of
// the two threads, kWriter and kOther, end with the same 8 bits.
TEST(KnownRecords, TellManyThreadsApart) {
  constexpr uint32_t kWriter = 300, kOther = kWriter - 256;
  script::ScriptBuilder builder;
  const uint32_t class_number = builder.add_class("check");
  const uint32_t index = builder.add_index("index", SHORT);
  const uint32_t key = builder.add_int32_key(1);
  const script::Payload payload = builder.new_payload();
  builder.thread(builder.add_phase("create", 1, {}), 0).create(index);
  const uint32_t phase = builder.add_phase("test", kWriter + 1, {});
  script::ThreadBuilder writer = builder.thread(phase, kWriter);
  writer.auto_commit_as(format::Kind::kScript, class_number);
  writer.open(0, index);
  writer.get(0, key);
  writer.insert(0, key, payload);
  writer.close(0);
  const script::Script script = builder.build();
  const script::Outcome outcome = play(script, testing::test_index({}));
  const Judged judged(script, outcome);
  const judge::KnownRecords known(script, judged.ranks(), judged.expected());
  format::Op op{};
  op.key = key;
  std::array<char, MAX_PAYLOAD_LEN + 1> bytes{};
  format::write_tag(payload.tag, bytes.data());
  const uint64_t word = format::get_word(bytes.data(), op.payload, SUCCESS);
  EXPECT_FALSE(known.is_right_get(op, index, phase, kWriter, word));
  EXPECT_TRUE(known.is_right_get(op, index, phase, kOther, word));
}

TEST(ExpectedState, SortsTheChangesOfEveryKey) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, 1, workload::Purpose::kStream);
    const script::Script script = RandomProgram(rng).build();
    const script::Outcome outcome = play(script, testing::test_index({}));
    const Judged judged(script, outcome);
    std::size_t writes = 0;
    for (const script::PhaseScript& phase : script.phases) {
      for (const std::vector<format::Op>& ops : phase.threads) {
        for (const format::Op& op : ops) {
          writes += op.code == format::OpCode::kInsert || op.code == format::OpCode::kDeleteKey ||
                            op.code == format::OpCode::kDeletePair
                        ? 1
                        : 0;
        }
      }
    }
    const auto place = [](const judge::Change& change) {
      return std::tuple(change.index, change.rank, change.moment.phase, change.moment.thread,
                        change.moment.op);
    };
    EXPECT_EQ(judged.expected().changes().size(), writes);
    EXPECT_TRUE(std::ranges::is_sorted(judged.expected().changes(), {}, place));
  }
}

// The changes of a range of ranks are those that a walk through all changes finds. The indexes are
// one without changes, one with each key, one whose keys are few and far apart, and one with two
// clusters of keys.
TEST(ExpectedState, FindsTheChangesOfARange) {
  constexpr uint32_t kNumbers = 300;
  script::ScriptBuilder script;
  std::array<std::vector<uint32_t>, 4> keys = {
      {{}, {}, {7, 8, 290}, {40, 41, 42, 42, 43, 250, 251}}};
  for (uint32_t i = 0; i < kNumbers; ++i)
    keys[1].push_back(script.add_int32_key(static_cast<int32_t>(i) - 100));
  const uint32_t class_number = script.add_class("insert");
  script::ThreadBuilder out = script.thread(script.add_phase("fill", 1, {}), 0);
  out.auto_commit_as(format::Kind::kStream, class_number);
  for (uint32_t i = 0; i < keys.size(); ++i) {
    const uint32_t index = script.add_index("index " + std::to_string(i), SHORT);
    out.create(index);
    out.open(0, index);
    for (const uint32_t key : keys[i]) out.insert(0, key, script.new_payload());
    out.close(0);
  }
  const script::Script built = script.build();
  const script::Outcome outcome = play(built, testing::test_index({}));
  const Judged judged(built, outcome);
  const judge::ExpectedState& expected = judged.expected();
  for (uint32_t index = 0; index < keys.size(); ++index) {
    for (uint64_t from = 0; from <= kNumbers; ++from) {
      for (const uint64_t to :
           {from, from + 1, from + 2, from + 45, uint64_t{kNumbers}, UINT64_MAX}) {
        const auto count = std::ranges::count_if(
            keys[index], [&](uint32_t key) { return from <= key && key < to; });
        const std::span<const judge::Change> found = expected.changes(index, from, to);
        ASSERT_EQ(found.size(), static_cast<std::size_t>(count)) << index << ": " << from;
        for (const judge::Change& change : found) {
          EXPECT_EQ(change.index, index);
          EXPECT_TRUE(from <= change.rank && change.rank < to);
        }
      }
      const auto one = std::ranges::count(keys[index], from);
      EXPECT_EQ(expected.changes(index, static_cast<uint32_t>(from)).size(),
                static_cast<std::size_t>(one));
    }
  }
}

TEST(SortNotes, KeepsTheOrderOfNotesWithEqualHeads) {
  for (const std::size_t count : {0u, 1u, 1000u, 60'000u}) {
    Rng rng(count, 2, workload::Purpose::kStream);
    std::vector<judge::Note> notes, spare;
    for (uint32_t i = 0; i < count; ++i)
      notes.push_back({.head = rng.below(5000) << 40 | rng.below(3), .number = i});
    std::vector<judge::Note> expected = notes;
    std::ranges::stable_sort(expected, {}, &judge::Note::head);
    judge::sort_notes(notes, spare);
    EXPECT_TRUE(std::ranges::equal(notes, expected, [](const judge::Note& a, const judge::Note& b) {
      return a.head == b.head && a.number == b.number;
    }));
  }
}

TEST(KeyRanks, FollowTheOrderOfIntegers) {
  script::Pools pools;
  pools.int32_keys = {5, -1, INT32_MIN, 5, INT32_MAX, 0};
  pools.int64_keys = {INT64_MAX, -7, 3, INT64_MIN};
  const judge::KeyRanks ranks(pools);
  const auto all = [&](KeyType type, uint32_t count) {
    std::vector<uint32_t> list;
    for (uint32_t number = 0; number < count; ++number) list.push_back(ranks.rank(type, number));
    return list;
  };
  EXPECT_EQ(all(SHORT, 6), (std::vector<uint32_t>{3, 1, 0, 3, 4, 2}));
  EXPECT_EQ(all(INT, 4), (std::vector<uint32_t>{3, 1, 2, 0}));
  EXPECT_EQ(ranks.count(SHORT), 5u);
}

}  // namespace
}  // namespace keydrome
