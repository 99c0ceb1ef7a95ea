// Tests the benchmark "sigmod2009": its operations have the published shape, a correct index
// passes, and each seeded fault is found.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/workload/fingerprint.h"
#include "benchmarks/kit/workload/random_text.h"

namespace keydrome::sigmod2009 {
namespace {

using testing::Faults;
using testing::play;
using testing::test_index;
using testing::text_of;

const workload::BenchmarkEntry& entry() {
  for (const workload::BenchmarkEntry& candidate : workload::benchmark_registry()) {
    if (candidate.name == "sigmod2009") return candidate;
  }
  fail(KEYDROME_HERE, "sigmod2009 is not registered");
}

script::Script make_script(uint64_t seed, const workload::ParameterValues& overrides = {},
                           const workload::CheckPolicy& policy = {},
                           const std::string& instance = "preliminary1") {
  const workload::Manifest manifest = workload::Manifest::parse(entry().manifest_json).value();
  const workload::Parameters parameters = manifest.resolve(instance, "smoke", overrides).value();
  return entry().make(instance)->generate(parameters, seed, policy).value();
}

judge::Findings judge(const script::Script& script, const Faults& faults) {
  const script::Outcome outcome = play(script, test_index(faults));
  judge::Findings findings("sigmod2009");
  entry().make("preliminary1")->judge(script, outcome, findings);
  return findings;
}

// Returns the number of seeds to try: `usual`, or 1 with sanitizers. `./dev soak` sets
// KEYDROME_SOAK to multiply this number.
uint64_t seeds(uint64_t usual) {
#ifdef KEYDROME_SANITIZED
  usual = 1;
#endif
  const char* factor = std::getenv("KEYDROME_SOAK");
  return usual * (factor == nullptr ? 1 : std::strtoull(factor, nullptr, 10));
}

TEST(Sigmod2009, ACorrectIndexPasses) {
  for (uint64_t seed = 1; seed <= seeds(12); ++seed) {
    const script::Script script = make_script(seed, {{"threads", 4}, {"tests_per_thread", 200}});
    const judge::Findings findings = judge(script, Faults{});
    EXPECT_TRUE(findings.empty()) << "seed " << seed << "\n" << text_of(findings);
  }
}

TEST(Sigmod2009, DeadlocksAreRetriedAndAreNoFindings) {
  for (uint64_t seed = 1; seed <= seeds(4); ++seed) {
    const script::Script script = make_script(seed, {{"threads", 4}, {"tests_per_thread", 200}});
    const script::Outcome outcome = play(script, test_index({.deadlock_every = 1009}));
    judge::Findings findings;
    judge::judge_script(script, outcome, findings);
    EXPECT_TRUE(findings.empty()) << "seed " << seed << "\n" << text_of(findings);
    const judge::Totals sum = judge::totals(script, outcome);
    EXPECT_GT(sum.deadlocks, 0u);
    EXPECT_EQ(sum.transactions_completed, 800u);
    EXPECT_EQ(sum.transactions_failed, 0u);
  }
}

struct FaultCase {
  const char* name;
  Faults faults;
};

class FaultyIndex : public ::testing::TestWithParam<FaultCase> {};

// Runs at smoke scale, the smallest size, and judges only with the checks of this benchmark.
TEST_P(FaultyIndex, IsFound) {
  for (uint64_t seed = 1; seed <= seeds(2); ++seed) {
    const judge::Findings findings = judge(make_script(seed), GetParam().faults);
    EXPECT_TRUE(findings.failed()) << "seed " << seed;
    if (seed == 1) std::cout << text_of(findings);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sigmod2009, FaultyIndex,
    ::testing::Values(FaultCase{"success_only", {.success_only = true}},
                      FaultCase{"keeps_aborted", {.keeps_aborted = true}},
                      FaultCase{"loses_aborted_deletes", {.loses_aborted_deletes = true}},
                      FaultCase{"unordered", {.unordered = true}},
                      FaultCase{"misses_everything", {.misses_everything = true}},
                      FaultCase{"accepts_duplicates", {.accepts_duplicates = true}},
                      FaultCase{"deletes_missing", {.deletes_missing = true}},
                      FaultCase{"keeps_deleted", {.keeps_deleted = true}},
                      FaultCase{"denies_deletes", {.denies_deletes = true}},
                      FaultCase{"wraps_around", {.wraps_around = true}},
                      FaultCase{"drops_every_1000", {.drops_every = 1000}},
                      FaultCase{"changes_payload_every_1000", {.changes_payload_every = 1000}},
                      FaultCase{"wrong_key_every_1000", {.wrong_key_every = 1000}},
                      FaultCase{"skips_every_1000", {.skips_every = 1000}},
                      FaultCase{"repeats_every_1000", {.repeats_every = 1000}},
                      FaultCase{"fails_every_1000", {.fails_every = 1000}},
                      FaultCase{"odd_code_every_1000", {.odd_code_every = 1000}}),
    [](const ::testing::TestParamInfo<FaultCase>& parameter) { return parameter.param.name; });

TEST(Sigmod2009, PlainHasOnlyTheStreamAndTheFinalScan) {
  const script::Script script =
      make_script(7, {}, {.stripes = false, .canaries = false, .evidence = false});
  for (const script::PhaseScript& phase : script.phases) {
    for (const std::vector<format::Op>& ops : phase.threads) {
      for (const format::Op& op : ops) {
        if (op.code == format::OpCode::kBegin && phase.timed) {
          EXPECT_EQ(static_cast<format::Kind>(op.kind), format::Kind::kStream);
        }
        if (phase.timed) {
          EXPECT_EQ(op.flags & (format::kEvidence | format::kEvidenceAll), 0);
        }
      }
    }
  }
  EXPECT_TRUE(judge(script, Faults{}).empty());
  EXPECT_TRUE(judge(script, {.drops_every = 1000}).failed());
}

// Compares the calls of every transaction of the workload with the description of the contest.
TEST(Sigmod2009, TheStreamHasThePublishedShape) {
  const script::Script script =
      make_script(3, {{"threads", 8}, {"tests_per_thread", 2000}, {"indices", 25}},
                  {.stripes = true, .canaries = false, .evidence = true});
  const script::PhaseScript& test = script.phases.at(2);
  EXPECT_EQ(test.name, "test");
  uint64_t counts[3] = {}, checks = 0;
  for (const std::vector<format::Op>& ops : test.threads) {
    for (std::size_t at = 0; at < ops.size(); ++at) {
      if (ops[at].code != format::OpCode::kBegin) continue;
      EXPECT_EQ(ops[at - 1].code, format::OpCode::kOpen);
      const uint32_t length = ops[at].argument;
      EXPECT_EQ(ops[at + length + 1].code, format::OpCode::kClose);
      if (static_cast<format::Kind>(ops[at].kind) != format::Kind::kStream) {
        ++checks;
        continue;
      }
      ++counts[ops[at].class_];
      if (ops[at].class_ == 0) {
        EXPECT_EQ(length, 3u);
        EXPECT_EQ(ops[at + 2].code, format::OpCode::kNext);
        EXPECT_GE(ops[at + 2].argument, 100u);
        EXPECT_LE(ops[at + 2].argument, 199u);
      } else if (ops[at].class_ == 1) {
        EXPECT_TRUE(length >= 21 && length <= 30) << length;
      } else {
        EXPECT_TRUE(length >= 11 && length <= 19 && length % 2 == 1) << length;
      }
    }
  }
  constexpr double kTransactions = 16'000;
  EXPECT_NEAR(static_cast<double>(counts[0]), 0.10 * kTransactions, 0.01 * kTransactions);
  EXPECT_NEAR(static_cast<double>(counts[1]), 0.30 * kTransactions, 0.015 * kTransactions);
  EXPECT_NEAR(static_cast<double>(counts[2]), 0.60 * kTransactions, 0.015 * kTransactions);
  EXPECT_GT(checks, 0u);
  EXPECT_LE(static_cast<double>(checks), 0.01 * kTransactions);
}

TEST(Sigmod2009, ChecksDoNotChangeTheStream) {
  const auto stream = [](const script::Script& script) {
    std::vector<std::tuple<format::OpCode, uint32_t, uint32_t, uint32_t>> ops;
    for (const std::vector<format::Op>& thread : script.phases.at(2).threads) {
      bool ours = false;
      for (const format::Op& op : thread) {
        if (op.code == format::OpCode::kBegin)
          ours = static_cast<format::Kind>(op.kind) == format::Kind::kStream;
        const bool tagged =
            op.code == format::OpCode::kInsert;  // a tag is a unique number of the whole script
        const bool read = op.code == format::OpCode::kGet || format::is_scan(op.code);
        // The `payload` of a read is no text. It is the position of the payload bytes that are
        // reported.
        const uint32_t text = read ? 0 : op.payload;
        if (ours) ops.emplace_back(op.code, op.key, text, tagged ? 0 : op.argument);
        if (op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort) ours = false;
      }
    }
    return ops;
  };
  EXPECT_EQ(stream(make_script(5)),
            stream(make_script(5, {}, {.stripes = false, .canaries = false, .evidence = false})));
}

class FurtherInstance : public ::testing::TestWithParam<const char*> {};

// The final scan, which reads all records, returns some thousand records in the smallest instance.
// If one call in 200 is faulty, several faults are in this scan, independent of the timing of the
// threads.
TEST_P(FurtherInstance, AcceptsACorrectIndexAndFindsAFaultyOne) {
  const script::Script script =
      make_script(1, {{"inserts_per_thread", 200}, {"tests_per_thread", 100}}, {}, GetParam());
  EXPECT_TRUE(judge(script, Faults{}).empty()) << text_of(judge(script, Faults{}));
  EXPECT_TRUE(judge(script, {.drops_every = 200}).failed());
  EXPECT_TRUE(judge(script, {.skips_every = 200}).failed());
}

// All threads insert and delete the same keys, so the judge knows a dropped record only if no other
// thread deletes its key.
TEST(Sigmod2009, DroppedInsertsOfSharedKeysAreFound) {
  for (const char* instance : {"vary_high", "vary_high_positive", "vary_low"}) {
    for (uint64_t seed = 1; seed <= seeds(4); ++seed) {
      const judge::Findings findings =
          judge(make_script(seed, {}, {}, instance), {.drops_every = 1000});
      EXPECT_TRUE(findings.failed()) << instance << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sigmod2009, FurtherInstance,
                         ::testing::Values("threads30", "threads55", "fill_memory", "indices5",
                                           "vary_high", "vary_high_positive", "vary_low",
                                           "double_lookup"),
                         [](const ::testing::TestParamInfo<const char*>& parameter) {
                           return std::string(parameter.param);
                         });

uint64_t pairs_of_double_lookup(const script::Script& script) {
  uint64_t lookups = 0;
  for (const std::vector<format::Op>& ops : script.phases.at(2).threads) {
    for (const format::Op& op : ops) {
      if (op.code != format::OpCode::kRun) continue;
      const int64_t count = script.pools.parameters[op.key];
      EXPECT_TRUE(count >= 100 && count <= 199) << count;
      lookups += static_cast<uint64_t>(count);
    }
  }
  return lookups;
}

// The first get of a pair finds its key only by chance: an index has 320 of the 4,000 strings in
// the list of keys, and most of the empty and one-letter strings. The second get follows only a
// hit.
TEST(Sigmod2009, FewLookupsOfDoubleLookupHit) {
  for (uint64_t seed = 1; seed <= seeds(4); ++seed) {
    const script::Script script = make_script(seed, {}, {}, "double_lookup");
    const auto pairs = static_cast<double>(pairs_of_double_lookup(script));
    const judge::Totals sum = judge::totals(script, play(script, test_index({})));
    const auto gets = static_cast<double>(sum.gets), hits = static_cast<double>(sum.get_hits);
    EXPECT_NEAR(hits / gets, 0.087, 0.012) << "seed " << seed;
    EXPECT_NEAR(gets / pairs - 1, 0.087, 0.012) << "seed " << seed;
  }
}

TEST(Sigmod2009, ThePoolOfDoubleLookupHasTheInsertsOfAThreadForEachIndex) {
  const workload::CheckPolicy plain = {.stripes = false, .canaries = false, .evidence = false};
  const script::Script script = make_script(
      1, {{"threads", 3}, {"inserts_per_thread", 70}, {"indices", 5}}, plain, "double_lookup");
  EXPECT_EQ(script.pools.varchar_keys.size(), 5u * 70);
}

TEST(Sigmod2009, DoubleLookupOpensTwoDifferentIndices) {
  const script::Script script = make_script(1, {}, {}, "double_lookup");
  for (const std::vector<format::Op>& ops : script.phases.at(2).threads) {
    for (std::size_t at = 2; at + 1 < ops.size(); ++at) {
      if (ops[at + 1].code != format::OpCode::kRun) continue;
      ASSERT_EQ(ops[at].code, format::OpCode::kBegin);
      ASSERT_EQ(ops[at - 1].code, format::OpCode::kOpen);
      ASSERT_EQ(ops[at - 2].code, format::OpCode::kOpen);
      EXPECT_NE(ops[at - 1].argument, ops[at - 2].argument);
    }
  }
}

// No transaction deletes or inserts, so the final scan misses each dropped record.
TEST(Sigmod2009, DroppedInsertsOfDoubleLookupAreFound) {
  for (uint64_t seed = 1; seed <= seeds(4); ++seed) {
    const judge::Findings findings =
        judge(make_script(seed, {}, {}, "double_lookup"), {.drops_every = 1000});
    EXPECT_TRUE(findings.failed()) << "seed " << seed;
  }
}

TEST(Sigmod2009, OnlyOneByteOfTheKeysVaries) {
  const auto keys = [](const std::string& instance) {
    std::set<int64_t> found;
    const workload::CheckPolicy plain = {.stripes = false, .canaries = false, .evidence = false};
    for (const int64_t key : make_script(1, {}, plain, instance).pools.int64_keys) {
      found.insert(key);
    }
    return found;
  };
  const std::set<int64_t> low = keys("vary_low"), high = keys("vary_high"),
                          positive = keys("vary_high_positive");
  EXPECT_EQ(low.size(), 256u);
  EXPECT_EQ(*low.begin(), 0);
  EXPECT_EQ(*low.rbegin(), 255);
  EXPECT_EQ(high.size(), 256u);
  EXPECT_EQ(*high.begin(), INT64_MIN);
  EXPECT_EQ(*high.rbegin(), int64_t{127} << 56);
  EXPECT_EQ(*positive.begin(), 0);
  EXPECT_EQ(*positive.rbegin(), int64_t{255} << 55);
}

// Libraries of the contest may rely on the alphabet and the sign of the published keys. So the keys
// of the checks that the workload adds have the same alphabet and sign. The private keys of a check
// are not keys of the workload itself.
TEST(Sigmod2009, TheKeysOfTheChecksLookLikeThePublishedOnes) {
  const workload::CheckPolicy plain = {.stripes = false, .canaries = false, .evidence = false};
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const script::Pools stream = make_script(seed, {{"threads", 8}}, plain).pools;
    const script::Pools all = make_script(seed, {{"threads", 8}}).pools;
    ASSERT_GT(all.int32_keys.size(), stream.int32_keys.size());
    for (const int32_t key : all.int32_keys) EXPECT_GT(key, 0);
    for (const int64_t key : all.int64_keys) EXPECT_GT(key, 0);
    std::set<int32_t> private_keys(
        all.int32_keys.begin() + static_cast<std::ptrdiff_t>(stream.int32_keys.size()),
        all.int32_keys.end());
    for (const int32_t key : stream.int32_keys) EXPECT_FALSE(private_keys.contains(key));
    for (std::size_t i = 0; i < all.varchar_keys.size(); ++i) {
      for (const char byte : all.varchar_keys[i]) {
        EXPECT_NE(workload::kLetters.find(byte), std::string_view::npos) << all.varchar_keys[i];
      }
    }
  }
}

TEST(Sigmod2009, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(9)), workload::fingerprint(make_script(9)));
  EXPECT_NE(workload::fingerprint(make_script(9)), workload::fingerprint(make_script(10)));
}

TEST(Sigmod2009, TheSeedDrawsTheNumberOfIndices) {
  std::set<std::size_t> seen;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const script::Script script =
        make_script(seed, {{"threads", 1}, {"inserts_per_thread", 1}, {"tests_per_thread", 1}});
    EXPECT_TRUE(!script.indexes.empty() && script.indexes.size() <= 50);
    seen.insert(script.indexes.size());
  }
  EXPECT_GT(seen.size(), 20u);
  EXPECT_EQ(make_script(1, {{"indices", 5}}).indexes.size(), 5u);
}

TEST(Sigmod2009, TotalsCountWhatTheContestCounted) {
  const script::Script script = make_script(2);
  const script::Outcome outcome = play(script, test_index({}));
  const judge::Totals sum = judge::totals(script, outcome);
  EXPECT_EQ(sum.transactions_planned, 8u * 300);
  EXPECT_EQ(sum.transactions_completed, 8u * 300);
  EXPECT_EQ(sum.transactions_failed, 0u);
  EXPECT_EQ(sum.records_start, 8u * 404);
  ASSERT_TRUE(sum.records_end.has_value());
  EXPECT_GT(*sum.records_end, 0u);
  EXPECT_GT(sum.gets, sum.get_hits);
  uint64_t windows = 0, committed = 0;
  for (const uint64_t count : judge::phase_throughput(outcome.phases.at(2)).committed)
    windows += count;
  for (const script::ThreadResult& thread : outcome.phases.at(2).threads) {
    for (const uint64_t count : thread.totals.committed) committed += count;
  }
  EXPECT_EQ(windows, committed);
}

}  // namespace
}  // namespace keydrome::sigmod2009
