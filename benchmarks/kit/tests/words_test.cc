// Tests the evidence words, the 8 bytes in which the player, the process that calls the library,
// reports the result of a call. The tests check what the words contain, that the player writes one
// for every call, and that the judge finds faults with nothing but the words.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "benchmarks/kit/format/control_word.h"
#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/kit/judge/words.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/script/word_follower.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome {
namespace {

using testing::Faults;
using testing::play;
using testing::test_index;
using testing::text_of;

std::array<char, MAX_PAYLOAD_LEN + 1> payload_of(uint32_t tag, std::string_view text) {
  std::array<char, MAX_PAYLOAD_LEN + 1> payload{};
  format::write_tag(tag, payload.data());
  text.copy(payload.data() + format::kTagBytes, text.size());
  return payload;
}

TEST(EvidenceWord, ContainsTheCodeAndTheTag) {
  workload::Rng rng(7, 0, workload::Purpose::kStream);
  for (int i = 0; i < 1000; ++i) {
    const auto tag = static_cast<uint32_t>(rng.next());
    const auto payload = payload_of(tag, "some text of a record");
    const auto window = static_cast<uint32_t>(rng.below(format::kWindowMax / 4 + 1)) * 4;
    const uint64_t word = format::get_word(payload.data(), window, SUCCESS);
    EXPECT_EQ(format::tag_of_word(word), tag);
    EXPECT_EQ(format::code_of_word(word), static_cast<uint32_t>(SUCCESS));
  }
}

TEST(EvidenceWord, OfACallWithoutARecordIsItsCode) {
  const auto payload = payload_of(5, "a text that the library left behind");
  for (uint32_t code = 1; code <= FAILURE; ++code) {
    const uint64_t word = format::get_word(payload.data(), 8, code);
    EXPECT_EQ(word, format::code_word(code));
    EXPECT_NE(word, 0u);
    EXPECT_EQ(format::code_of_word(word), code);
  }
  EXPECT_GT(format::code_of_word(0), static_cast<uint32_t>(FAILURE));
}

// Changes one bit of the payload at a time. The word must change for every bit of the tag and of
// the window, although the code is in the place of four of them.
TEST(EvidenceWord, ChangesWithTheTagAndWithTheWindow) {
  constexpr uint32_t kWindow = 12;
  const auto payload = payload_of(0x12345678, "abcdefghijklmnop");
  const uint64_t word = format::get_word(payload.data(), kWindow, SUCCESS);
  for (std::size_t bit = 0; bit < payload.size() * 8; ++bit) {
    auto changed = payload;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    const bool same = format::get_word(changed.data(), kWindow, SUCCESS) == word;
    const std::size_t byte = bit / 8;
    const bool is_seen = byte < format::kTagBytes || byte - kWindow < 4;
    EXPECT_EQ(same, !is_seen) << "bit " << bit;
  }
}

TEST(EvidenceWord, OfAGetNextChangesWithTheKey) {
  const auto payload = payload_of(3, "text");
  Key key{};
  key.type = INT;
  const auto word = [&] {
    return format::record_word(payload.data(), 8, format::word_bytes(key, key.type, 8));
  };
  key.keyval.intkey = 17;
  const uint64_t first = word();
  key.keyval.intkey = 18;
  EXPECT_NE(word(), first);
  key.type = VARCHAR;
  std::strcpy(key.keyval.charkey, "the key of a record");
  const uint64_t text = word();
  key.keyval.charkey[9] = 'x';
  EXPECT_NE(word(), text);
}

// A session in which no op has a flag, so only the words show what the library returned.
class WordsTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kKeys = 64;

  WordsTest() {
    script_.add_class("check");
    index_ = script_.add_index("index", INT);
    for (uint32_t i = 0; i < kKeys; ++i) keys_.push_back(script_.add_int64_key(i * 3));
    const uint32_t text = script_.add_text("a text of twenty-nine letters");
    script::ThreadBuilder fill = script_.thread(script_.add_phase("create", 1, {}), 0);
    fill.create(index_);
    fill.open(0, index_);
    fill.auto_commit_as(format::Kind::kStream, 0);
    for (uint32_t i = 0; i < kKeys; i += 2) fill.insert(0, keys_[i], script_.new_payload(text));
    fill.close(0);
    test_ = script_.add_phase("test", 1, {.timed = true});
    out().open(0, index_);
    out().auto_commit_as(format::Kind::kStream, 0);
  }

  script::ThreadBuilder out() { return script_.thread(test_, 0); }

  // Reads all keys, scans, deletes and inserts.
  void write_mix() {
    script::ThreadBuilder thread = out();
    for (uint32_t i = 0; i < kKeys; ++i) {
      thread.begin(format::Kind::kStream, 0);
      thread.get(0, keys_[i]);
      thread.next(0, 3);
      thread.get(0, keys_[kKeys - 1 - i]);
      if (i % 4 == 0) thread.delete_key(0, keys_[i]);
      if (i % 4 == 1) thread.insert(0, keys_[i], script_.new_payload(1));
      i % 8 == 5 ? thread.abort() : thread.commit();
      thread.get(0, keys_[i]);
      thread.next(0, 2);
    }
  }

  uint64_t calls_on_records() const {
    const std::vector<format::Op>& ops = session_.phases[test_].threads[0];
    uint64_t calls = 0;
    format::walk_program(ops, [&](const format::Step& step) {
      if (format::is_on_records(ops[step.op].code)) calls += format::words_of(ops[step.op], {});
    });
    return calls;
  }

  script::Outcome run(const Faults& faults) {
    if (session_.phases.empty()) {
      out().close(0);
      session_ = script_.build();
    }
    return play(session_, test_index(faults));
  }
  judge::Findings judge(const script::Outcome& outcome) {
    judge::Findings findings;
    judge::judge_script(session_, outcome, findings);
    return findings;
  }

  script::ScriptBuilder script_;
  script::Script session_;
  std::vector<uint32_t> keys_;
  uint32_t index_ = 0, test_ = 0;
};

TEST_F(WordsTest, EveryCallOnRecordsLeavesOneAndARightLibraryPasses) {
  write_mix();
  const script::Outcome outcome = run({});
  EXPECT_EQ(outcome.phases[test_].threads[0].words.size(), calls_on_records());
  EXPECT_TRUE(judge(outcome).empty()) << text_of(judge(outcome));
}

TEST_F(WordsTest, RetriesLeaveTheWordsOfTheLastAttempt) {
  write_mix();
  const script::Outcome outcome = run({.deadlock_every = 17});
  EXPECT_GT(outcome.phases[test_].threads[0].reported->deadlocks, 10u);
  EXPECT_EQ(outcome.phases[test_].threads[0].words.size(), calls_on_records());
  EXPECT_TRUE(judge(outcome).empty()) << text_of(judge(outcome));
}

// A library may return DEADLOCK for every twelfth call. Its failed attempts need more words than
// there is room for. The judge must nevertheless judge the session to its end.
TEST_F(WordsTest, WithoutRoomFailedAttemptsAreOverwritten) {
  script::ThreadBuilder thread = out();
  constexpr uint32_t kTransactions = 4'000;
  for (uint32_t i = 0; i < kTransactions; ++i) {
    thread.begin(format::Kind::kStream, 0);
    for (uint32_t k = 0; k < 6; ++k) thread.get(0, keys_[(i * 7 + k) % kKeys]);
    thread.commit();
  }
  out().close(0);
  session_ = script_.build();
  const script::Outcome outcome = play(session_, test_index({.deadlock_every = 12}), true);
  const script::ThreadResult& result = outcome.phases[test_].threads[0];
  EXPECT_GT(result.reported->attempts_overwritten, 0u);
  EXPECT_LT(result.reported->attempts_overwritten, result.reported->deadlocks);
  EXPECT_EQ(result.totals.committed[0], kTransactions);
  judge::Findings findings = judge(outcome);
  judge::judge_recorded(session_, outcome, true, findings);
  EXPECT_TRUE(findings.empty()) << text_of(findings);
  EXPECT_EQ(findings.not_judged_reason(), "");
}

// The words alone suffice to prove that no serial order of the transactions gives all results.
TEST_F(WordsTest, AbortedDataIsFoundInTheHistoryOfWords) {
  write_mix();
  out().close(0);
  session_ = script_.build();
  const script::Outcome outcome = play(session_, test_index({.keeps_aborted = true}), true);
  judge::Findings findings;
  judge::judge_recorded(session_, outcome, true, findings);
  EXPECT_GT(findings.count("aborted_read"), 0u) << text_of(findings);
}

// The times of words are too coarse to order two short transactions. But the order of the calls of
// a thread is certain, so a thread that misses its own last commit is found.
TEST_F(WordsTest, AThreadThatMissesItsOwnLastCommitIsFoundInTheHistoryOfWords) {
  script::ThreadBuilder thread = out();
  for (uint32_t i = 1; i < kKeys; i += 2) {
    thread.begin(format::Kind::kStream, 0);
    thread.insert(0, keys_[i], script_.new_payload(1));
    thread.commit();
    for (int reads = 0; reads < 2; ++reads) {
      thread.begin(format::Kind::kStream, 0);
      thread.get(0, keys_[i]);
      thread.commit();
    }
  }
  out().close(0);
  session_ = script_.build();
  judge::Findings right, wrong;
  judge::judge_recorded(session_, play(session_, test_index({}), true), true, right);
  EXPECT_TRUE(right.empty()) << text_of(right);
  EXPECT_EQ(right.not_judged_reason(), "");
  judge::judge_recorded(session_, play(session_, test_index({.misses_new_once = true}), true), true,
                        wrong);
  EXPECT_GT(wrong.count("stale_read"), 0u) << text_of(wrong);
}

// The position that a thread has reached follows from its words, op by op.
TEST_F(WordsTest, SayHowFarAThreadIs) {
  write_mix();
  run({});
  const std::vector<format::Op>& ops = session_.phases[test_].threads[0];
  EXPECT_EQ(script::reached_op(ops, {}), 0u);
  const format::CallWord open{.call = history::EventCall::kOpen, .slot = 0, .number = index_};
  std::vector<uint64_t> words{open.packed(format::ControlWord::kRareCall)};
  EXPECT_EQ(script::reached_op(ops, words), 0u);
  words.push_back(format::code_word(SUCCESS));
  ASSERT_EQ(ops[1].code, format::OpCode::kBegin);
  EXPECT_EQ(script::reached_op(ops, words), 1u);
  words.push_back(format::result_word(format::ControlWord::kResult, 5, SUCCESS));
  EXPECT_EQ(script::reached_op(ops, words), 2u);
  words.push_back(format::code_word(KEY_NOTFOUND));
  EXPECT_EQ(script::reached_op(ops, words), 3u);
  words.push_back(format::code_word(DB_END));  // the first of three getNext calls
  EXPECT_EQ(script::reached_op(ops, words), 3u);
  // The attempt fails and is repeated.
  words.push_back(format::code_word(DEADLOCK));
  words.push_back(format::result_word(format::ControlWord::kAbort, 6, SUCCESS));
  words.push_back(format::attempt_end_word(format::AttemptEnd::kRetried));
  EXPECT_EQ(script::reached_op(ops, words), 1u);
}

TEST_F(WordsTest, FaultsOfEveryCallAreFound) {
  const struct {
    Faults faults;
    const char* finding;
  } cases[] = {{{.unordered = true}, "scan_order"},
               {{.misses_everything = true}, "missing_record"},
               {{.keeps_deleted = true}, "impossible_record"},
               {{.keeps_aborted = true}, "impossible_record"},
               {{.drops_every = 5}, "missing_record"},
               {{.wrong_key_every = 5}, "impossible_record"},
               {{.skips_every = 3}, "missing_record"},
               {{.denies_deletes = true}, "wrong_delete"}};
  write_mix();
  int number = 0;
  for (const auto& [faults, finding] : cases) {
    const judge::Findings findings = judge(run(faults));
    EXPECT_GT(findings.count(finding), 0u) << "case " << number << ": " << finding << "\n"
                                           << text_of(findings);
    ++number;
  }
}

}  // namespace
}  // namespace keydrome
