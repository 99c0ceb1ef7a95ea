// Tests the benchmark "trace": the calls of random traces are played and judged, with right and
// with faulty indexes.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/trace_file/trace_file.h"
#include "benchmarks/trace/example.h"

namespace keydrome::trace {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::Faults;
using testing::test_index;

constexpr const char* kName = "trace";
constexpr const char* kInstance = "recorded";
constexpr workload::CheckPolicy kPlain = {.stripes = false, .canaries = false, .evidence = false};

script::Script script_of(const std::string& text, const workload::CheckPolicy& policy = {}) {
  const auto trace = std::make_shared<const workload::TraceFile>(
      workload::parse_trace("the test's trace", text).value());
  const std::unique_ptr<workload::Workload> workload = testing::benchmark(kName).make(kInstance);
  EXPECT_TRUE(workload->play_trace(trace));
  return workload->generate(workload::Parameters(), 1, policy).value();
}

TEST(Trace, TheExampleIsJudgedLikeAllWorkloads) {
  const script::Script script = testing::make_script(kName, kInstance, 1);
  expect_right_is_not_accused(kName, kInstance, script);
  expect_faults_are_found(kName, kInstance, script);
}

TEST(Trace, TheExampleIsATrace) {
  const Result<workload::TraceFile> trace = workload::parse_trace("example", example_text());
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->threads.size(), 4u);
  EXPECT_EQ(trace->load.size(), 4'000u);
  EXPECT_GT(trace->counts.transactions, 3'000u);
  EXPECT_GT(trace->counts.single_calls, 1'000u);
}

// The library receives the calls of the file, in order. A tag, a unique number, replaces the first
// bytes of each payload.
TEST(Trace, TheCallsAreThoseOfTheFile) {
  const script::Script script = script_of(
      "keydrome trace 1\nindex ages int64\nindex users varchar\nload users bob 12345678rest\n"
      "0 begin\n0 get users bob\n0 next users 3\n0 delete users bob 12345678rest\n0 abort\n"
      "0 insert ages 7 short\n",
      kPlain);
  const script::PhaseScript& run = testing::timed_phase(script);
  ASSERT_EQ(run.threads.size(), 1u);
  using format::OpCode;
  std::vector<OpCode> codes;
  for (const format::Op& op : run.threads[0]) codes.push_back(op.code);
  EXPECT_EQ(codes, (std::vector{OpCode::kOpen, OpCode::kOpen, OpCode::kBegin, OpCode::kGet,
                                OpCode::kNext, OpCode::kDeletePair, OpCode::kAbort, OpCode::kInsert,
                                OpCode::kClose, OpCode::kClose}));
  const format::Op &pair = run.threads[0][5], &insert = run.threads[0][7];
  EXPECT_EQ(pair.slot, 1u);
  EXPECT_EQ(script.pools.varchar_keys[pair.key], "bob");
  EXPECT_EQ(script.pools.payloads[pair.payload], "rest");
  EXPECT_EQ(script.pools.int64_keys[insert.key], 7);
  EXPECT_EQ(script.pools.payloads[insert.payload], "");
  EXPECT_NE(insert.flags & format::kAutoCommit, 0);
  EXPECT_EQ(run.threads[0][4].argument, 3u);
}

// A program is cut into pieces where no handle is open. Handles are closed between long
// transactions, so that no piece contains two of them.
TEST(Trace, HandlesAreClosedAfterManyCalls) {
  std::string text = "keydrome trace 1\nindex a int64\n";
  for (int transaction = 0; transaction < 4; ++transaction) {
    text += "0 begin\n";
    for (int i = 0; i < 3'000; ++i) text += "0 get a " + std::to_string(i) + "\n";
    text += "0 commit\n";
  }
  const script::Script script = script_of(text, kPlain);
  uint64_t opens = 0;
  for (const format::Op& op : testing::timed_phase(script).threads[0]) {
    opens += op.code == format::OpCode::kOpen ? 1 : 0;
  }
  EXPECT_EQ(opens, 4u);
}

// Writes random traces. With few payloads, pairs are inserted again, or deleted without being
// stored. With many, every insert has a payload of its own, and pairs are deleted once.
enum class Payloads : uint8_t { kFew, kMany };

class RandomTrace {
 public:
  RandomTrace(uint64_t seed, uint32_t threads, uint32_t keys, Payloads payloads)
      : rng_(seed), threads_(threads), keys_(keys), payloads_(payloads), open_(threads) {
    for (uint64_t i = rng_() % 200; i > 0; --i) {
      const std::string record = any_record();
      if (loaded_.insert(record).second) text_ += "load " + record + "\n";
    }
    for (const char* index : {"a", "b", "c"}) call("get " + std::string(index) + " 1");
    for (uint32_t t = 0; t < threads; ++t) text_ += std::to_string(t) + " get b 2\n";
    for (int i = 0; i < 3'000; ++i) random_call();
    for (uint32_t t = 0; t < threads; ++t) {
      if (open_[t]) text_ += std::to_string(t) + " commit\n";
    }
  }

  const std::string& text() const { return text_; }

 private:
  std::string any_place() {
    return std::string(1, static_cast<char>('a' + rng_() % 3)) + " " +
           std::to_string(rng_() % keys_);
  }
  std::string any_record() {
    const uint64_t payload = payloads_ == Payloads::kFew ? rng_() % 8 : ++last_payload_;
    const bool is_empty = payloads_ == Payloads::kFew && payload > 5;
    records_.push_back(any_place() + (is_empty ? "" : " a%20payload" + std::to_string(payload)));
    return records_.back();
  }
  // Returns a record of an earlier line.
  std::string known_record() {
    if (records_.empty()) return any_record();
    std::swap(records_[rng_() % records_.size()], records_.back());
    std::string record = records_.back();
    records_.pop_back();
    return record;
  }

  void call(const std::string& what) { text_ += std::to_string(thread_) + " " + what + "\n"; }

  void random_call() {
    thread_ = static_cast<uint32_t>(rng_() % threads_);
    const uint64_t choice = rng_() % 20;
    if (choice < 3) {
      call(open_[thread_] ? (choice == 0 ? "abort" : "commit") : "begin");
      open_[thread_] = !open_[thread_];
    } else if (choice < 8) {
      call("get " + any_place());
    } else if (choice < 10 && open_[thread_]) {
      call("next " + std::string(1, static_cast<char>('a' + rng_() % 3)) + " " +
           std::to_string(1 + rng_() % 9));
    } else if (choice < 16) {
      call("insert " + any_record());
    } else {
      call("delete " + (choice < 18 ? any_place() : known_record()));
    }
  }

  std::mt19937_64 rng_;
  uint32_t threads_, keys_, thread_ = 0;
  Payloads payloads_;
  uint64_t last_payload_ = 0;
  std::vector<std::string> records_;  // of earlier lines
  std::vector<bool> open_;
  std::set<std::string> loaded_;
  std::string text_ = "keydrome trace 1\nindex a int64\nindex b varchar\nindex c int32\n";
};

// What a trace of one thread must find: a model of three ordered sets.
struct Model {
  std::map<std::pair<uint8_t, uint32_t>, std::set<uint32_t>> records;  // pairs by index and key
  uint64_t hits = 0;

  explicit Model(const workload::TraceFile& trace) {
    using What = workload::TraceCall::What;
    for (const workload::TraceCall& call : trace.load)
      records[{call.index, call.key}].insert(call.pair);
    auto before = records;
    for (const workload::TraceCall& call : trace.threads[0]) {
      std::set<uint32_t>& stored = records[{call.index, call.key}];
      if (call.what == What::kBegin) before = records;
      if (call.what == What::kGet) hits += stored.empty() ? 0 : 1;
      if (call.what == What::kInsert) stored.insert(call.pair);
      if (call.what == What::kDeleteKey) stored.clear();
      if (call.what == What::kDeletePair) stored.erase(call.pair);
      if (call.what == What::kAbort) records = before;
    }
  }

  uint64_t size() const {
    uint64_t size = 0;
    for (const auto& [place, pairs] : records) size += pairs.size();
    return size;
  }
};

TEST(Trace, RandomTracesOfOneThreadFindWhatAModelFinds) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string text = RandomTrace(seed, 1, 40, Payloads::kFew).text();
    const Model model(workload::parse_trace("random", text).value());
    const script::Script script = script_of(text, kPlain);
    const script::Outcome outcome = testing::play(script, test_index({}));
    const judge::Totals sum = judge::totals(script, outcome);
    EXPECT_EQ(sum.get_hits, model.hits) << "seed " << seed;
    EXPECT_EQ(sum.transactions_completed, sum.transactions_planned) << "seed " << seed;
    EXPECT_EQ(sum.records_end, model.size()) << "seed " << seed;
  }
}

// If several threads insert and delete the same few keys, and the machine is busy, many calls
// overlap. The certifier, which derives the order of the transactions, then cannot always tell
// which call deleted which record.
TEST(Trace, RandomTracesAreJudged) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const auto threads = static_cast<uint32_t>(1 + seed % 5);
    const uint32_t keys = seed % 2 == 0 ? 10 : 3'000;
    const std::string text = RandomTrace(seed, threads, keys, Payloads::kMany).text();
    const bool is_hard = threads > 1 && keys == 10;
    expect_right_is_not_accused(
        kName, "seed " + std::to_string(seed), script_of(text),
        is_hard ? testing::Certainty::kMayBeUndecided : testing::Certainty::kCertified);
  }
}

// A recording cannot be certified if the same pair is inserted and committed twice, but timed runs
// are judged.
TEST(Trace, TracesThatInsertPairsAgainAreJudged) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const auto threads = static_cast<uint32_t>(1 + seed % 5);
    const uint32_t keys = seed % 2 == 0 ? 10 : 3'000;
    const script::Script script =
        script_of(RandomTrace(seed, threads, keys, Payloads::kFew).text());
    const script::Outcome outcome = testing::play(script, test_index({.deadlock_every = 997}));
    judge::Findings findings(kName);
    testing::benchmark(kName).make(kInstance)->judge(script, outcome, findings);
    EXPECT_TRUE(findings.empty()) << "seed " << seed << ": " << testing::text_of(findings);
    const judge::Totals sum = judge::totals(script, outcome);
    EXPECT_EQ(sum.transactions_completed, sum.transactions_planned);
  }
}

TEST(Trace, FaultsInRandomTracesAreFound) {
  const script::Script script = script_of(RandomTrace(5, 3, 3'000, Payloads::kFew).text());
  expect_faults_are_found(kName, kInstance, script);
  for (const Faults& faults : {Faults{.keeps_aborted = true}, Faults{.deletes_missing = true},
                               Faults{.keeps_deleted = true}, Faults{.skips_every = 50}}) {
    const script::Outcome outcome = testing::play(script, test_index(faults));
    judge::Findings findings(kName);
    testing::benchmark(kName).make(kInstance)->judge(script, outcome, findings);
    EXPECT_TRUE(findings.failed());
  }
}

}  // namespace
}  // namespace keydrome::trace
