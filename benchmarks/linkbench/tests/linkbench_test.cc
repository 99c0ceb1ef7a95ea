// Tests the benchmark "linkbench": the published distributions, the forms of keys, and each finding
// of the graph check.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/distributions.h"
#include "benchmarks/kit/workload/fingerprint.h"
#include "benchmarks/linkbench/distributions.h"
#include "benchmarks/linkbench/graph.h"
#include "benchmarks/linkbench/keys.h"
#include "benchmarks/linkbench/procedures.h"
#include "benchmarks/linkbench/tests/seeded_faults.h"

namespace keydrome::linkbench {
namespace {

using testing::expect_faults_are_found;
using testing::expect_right_is_not_accused;
using testing::for_each_transaction;
using testing::make_script;
using testing::play;
using testing::text_of;
using testing::timed_phase;

constexpr const char* kName = "linkbench";
constexpr const char* kInstance = "facebook";
constexpr uint32_t kLoad = 1, kRun = 3;
const workload::ParameterValues kSmall = {{"nodes", 150}, {"requests_per_thread", 400}};
constexpr workload::CheckPolicy kStreamAlone = {
    .stripes = false, .canaries = false, .evidence = true};

judge::Findings judged(const script::Script& script, const script::Outcome& outcome) {
  judge::Findings findings{kName};
  testing::benchmark(kName).make(kInstance)->judge(script, outcome, findings);
  return findings;
}

TEST(LinkBench, ARightIndexPassesAndFaultyOnesAreFound) {
  const script::Script script = make_script(kName, kInstance, 1, kSmall);
  const script::Outcome outcome = expect_right_is_not_accused(kName, kInstance, script);
  const Books books = keep_books(script, outcome, kLoad, kRun);
  EXPECT_TRUE(books.exact);
  EXPECT_GT(books.observations.size(), 5u);
  ListHistory all;
  for (const ListHistory& list : books.lists) {
    all.loaded += list.loaded, all.added += list.added, all.hidden += list.hidden;
  }
  EXPECT_GT(all.loaded, 250);
  EXPECT_GT(all.added, 50);
  EXPECT_GT(all.hidden, 5);
  expect_faults_are_found(kName, kInstance, script);
}

TEST(LinkBench, APlainRunIsJudgedByItsCounts) {
  const script::Script script = make_script(
      kName, kInstance, 2, kSmall, {.stripes = false, .canaries = false, .evidence = false});
  const script::Outcome outcome = play(script, testing::test_index({}));
  EXPECT_FALSE(keep_books(script, outcome, kLoad, kRun).exact);
  EXPECT_TRUE(judged(script, outcome).empty()) << text_of(judged(script, outcome));
  const judge::Findings findings = judged(
      script,
      play(script, seeded::index_with({.what = seeded::What::kDropsInsert, .index = "links"})));
  EXPECT_GT(findings.count("link_count"), 0u) << text_of(findings);
}

struct SeededFault {
  seeded::Fault fault;
  std::vector<const char*> findings;
};

// For each seeded fault, plays the script on an index with this fault and expects its findings.
TEST(LinkBench, EveryCheckFindsItsFault) {
  using seeded::What;
  // The script has one thread, so that the fault always affects the same call.
  const script::Script script =
      make_script(kName, kInstance, 3,
                  {{"nodes", 150}, {"threads", 1}, {"requests_per_thread", 1'600}}, kStreamAlone);
  const std::vector<SeededFault> faults = {
      {{What::kDropsInsert, "links", 20}, {"link_count", "index_agreement", "count_history"}},
      {{What::kDropsInsert, "links_by_id2", 20}, {"index_agreement"}},
      {{What::kDropsInsert, "counts", 20}, {"link_count"}},
      {{What::kDropsInsert, "nodes", 20}, {"node_count"}},
      {{What::kDropsLoading, "nodes", 20}, {"node_count"}},
      {{What::kDropsLoading, "links", 20}, {"link_count", "index_agreement", "count_history"}},
      {{What::kDropsLoading, "counts", 20}, {"link_count"}},
      {{What::kMisplaces, "links", 20}, {"malformed_row"}},
      {{What::kMisplaces, "links_by_id2", 20}, {"malformed_row"}},
      {{What::kMisplaces, "counts", 20}, {"malformed_row"}},
      {{What::kLosesCommit, "counts", 20}, {"count_history"}},
      {{What::kSkipsAfterGet, "links"}, {"impossible_list"}},
  };
  for (const SeededFault& seeded : faults) {
    const judge::Findings findings = judged(script, play(script, seeded::index_with(seeded.fault)));
    for (const char* name : seeded.findings) {
      EXPECT_GT(findings.count(name), 0u) << name << " was not found, but:\n" << text_of(findings);
    }
    const bool when_loaded = text_of(findings).find("after the load") != std::string::npos;
    EXPECT_EQ(when_loaded, seeded.fault.what == What::kDropsLoading) << text_of(findings);
  }
}

std::string list_key(uint32_t id1, uint32_t type) {
  std::string key;
  append_list_key(key, id1, type);
  return key;
}
std::string pair_key(uint32_t id1, uint32_t type, uint32_t id2) {
  std::string key;
  append_pair_key(key, id1, type, id2);
  return key;
}
std::string link_key(uint32_t id1, uint32_t type, uint32_t time, uint32_t id2) {
  std::string key;
  append_link_key(key, id1, type, time, id2);
  return key;
}

TEST(LinkBench, KeysOfAListAreNeighboursTheNewestFirst) {
  const std::vector<std::string> keys = {
      list_key(42, 0),        link_key(42, 0, 9, 44), list_key(42, 1),      link_key(42, 1, 8, 99),
      link_key(42, 1, 7, 43), link_key(42, 1, 7, 44), list_key(42, kTypes), list_key(43, 0)};
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(link_key(42, 1, 15, 43), "0000002a|1|fffffff0|0000002b");
  EXPECT_EQ(pair_of(link_key(42, 1, 15, 43)), pair_key(42, 1, 43));
  EXPECT_EQ(list_of(pair_key(42, 1, 43)), list_number(42, 1));
  for (const char* none :
       {"", "0000002a", "0000002a|2", "0000002a11", "0000002g|1", "00000000|1"}) {
    EXPECT_FALSE(list_of(none)) << none;
  }
}

// Compares share_above() with some rows of the table in LinkBench's program. Also checks the mean
// out-degree and the fraction of nodes without links.
TEST(LinkBench, OutDegreesAreThePublishedOnesWithinAQuarter) {
  const std::map<uint32_t, double> published = {
      {1, 0.27015},     {2, 0.13262},     {5, 0.04131},    {10, 0.01659},     {20, 0.00778},
      {50, 0.00348},    {100, 0.00226},   {500, 0.001004}, {1461, 0.0005196}, {5000, 0.000132},
      {10038, 4.03e-5}, {14000, 1.85e-5}, {20188, 9.15e-6}};
  for (const auto& [links, share] : published) {
    EXPECT_GT(share_above(links), share / 1.25) << links;
    EXPECT_LT(share_above(links), share * 1.25) << links;
  }
  constexpr uint32_t kNodesDrawn = 100'000;
  const std::vector<uint32_t> degrees = out_degrees(kNodesDrawn);
  EXPECT_TRUE(std::is_sorted(degrees.rbegin(), degrees.rend()));
  double links = 0;
  for (const uint32_t degree : degrees) links += degree;
  EXPECT_NEAR(links / kNodesDrawn, 4.5, 0.1);
  const auto none = std::count(degrees.begin(), degrees.end(), 0u);
  EXPECT_NEAR(static_cast<double>(none) / kNodesDrawn, 0.1975, 0.0001);
}

void expect_share(double count, double n, double share) {
  EXPECT_NEAR(count, n * share, 3.3 * std::sqrt(n * share * (1 - share)));
}

TEST(LinkBench, MultigetsAreGeometric) {
  constexpr int kDraws = 20'000;
  workload::Rng rng(5, 0, workload::Purpose::kStream);
  double sum = 0, ones = 0;
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t links = random_multiget(rng);
    ASSERT_TRUE(links >= 1 && links <= 128);
    sum += links;
    ones += links == 1 ? 1 : 0;
  }
  expect_share(ones, kDraws, 0.382);
  // The standard deviation of a geometric number is sqrt(1 - p) / p.
  EXPECT_NEAR(sum / kDraws, 1 / 0.382, 3.3 * 2.06 / std::sqrt(kDraws));
}

// Returns the number of accesses to the most frequent node.
double hottest(const std::map<int64_t, double>& counts) {
  double most = 0;
  for (const auto& [node, count] : counts) most = std::max(most, count);
  return most;
}

TEST(LinkBench, MixAndSkewsAreThePublishedOnes) {
  constexpr double kTransactions = 60'000;
  constexpr uint32_t kNodesLoaded = 1'000;
  const script::Script script = make_script(
      kName, kInstance, 4, {{"nodes", kNodesLoaded}, {"requests_per_thread", kTransactions / 4}},
      kStreamAlone);
  const Books books = keep_books(script, {}, kLoad, std::nullopt);
  std::array<double, 7> counts{};
  std::array<double, 3> node_writes{};
  std::map<int64_t, double> listed, written, read, updated;
  double lists = 0, history = 0;
  for_each_transaction(timed_phase(script), [&](std::span<const format::Op> ops) {
    const uint32_t number = ops[0].class_;
    const format::Op& op = ops[1];
    ++counts.at(number);
    const auto parameter = [&](uint32_t at) { return script.pools.parameters[op.key + at]; };
    if (number == 0 || number == 1) ++written[parameter(0) / (kTypes + 1)];
    if (number == 4) {
      const std::string_view from =
          script.pools.varchar_keys[static_cast<std::size_t>(parameter(0))];
      const uint32_t list = *list_of(from);
      ++listed[list / kTypes];
      if (list >= books.lists.size() || books.lists[list].loaded == 0) return;
      ++lists;
      history += from.size() == kLinkBytes ? 1 : 0;
    }
    if (number == 5) ++read[op.key];
    if (number == 6) {
      ++node_writes.at(op.code == format::OpCode::kInsert ? 0
                       : op.code == format::OpCode::kRun  ? 1
                                                          : 2);
      if (op.code == format::OpCode::kRun) ++updated[parameter(0)];
    }
  });
  const std::array shares = {0.170008726, 0.029907664, 0.048863567, 0.005261142,
                             0.507119145, 0.129326683, 0.109512874};
  for (std::size_t i = 0; i < shares.size(); ++i) expect_share(counts[i], kTransactions, shares[i]);
  const std::array node_shares = {0.025732789, 0.07366437, 0.010115914};
  for (std::size_t i = 0; i < node_shares.size(); ++i) {
    expect_share(node_writes[i], kTransactions, node_shares[i]);
  }
  expect_share(history, lists, 0.003);
  const auto first = [](double theta) {
    return workload::GrayZipf(kNodesLoaded, theta).probability(0);
  };
  expect_share(hottest(listed), counts[4], 0.995 * first(0.8));
  expect_share(hottest(written), counts[0] + counts[1], 0.95 * first(0.741));
  expect_share(hottest(read), counts[5], first(0.625));
  expect_share(hottest(updated), node_writes[1], first(0.606));
}

TEST(LinkBench, EqualSeedsGiveEqualScriptsAndOthersDoNot) {
  EXPECT_EQ(workload::fingerprint(make_script(kName, kInstance, 6, kSmall)),
            workload::fingerprint(make_script(kName, kInstance, 6, kSmall)));
  EXPECT_NE(workload::fingerprint(make_script(kName, kInstance, 6, kSmall)),
            workload::fingerprint(make_script(kName, kInstance, 7, kSmall)));
}

}  // namespace
}  // namespace keydrome::linkbench
