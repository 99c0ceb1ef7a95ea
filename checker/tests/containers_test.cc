// Tests the containers with which the checker judges recorded histories: CellLists (the records of
// each key), FlatTable (a hash table) and Graph (which transaction must precede which). They must
// give the same results as simple containers of the standard library and simple algorithms.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "checker/certify/graph.h"
#include "checker/history/flat_table.h"
#include "checker/model/cell_lists.h"

namespace keydrome {

using certify::Graph;
using certify::GraphEdge;
using history::FlatTable;
using history::History;
using history::kNoNumber;
using history::Numbering;
using model::CellLists;

namespace {

uint32_t pick(std::mt19937& random, uint32_t below) {
  return static_cast<uint32_t>(random() % below);
}

TEST(CellLists, AgreeWithSets) {
  Numbering numbering{History{}};
  constexpr uint32_t kCells = 20'000;  // more than one block of 4096
  numbering.cells.resize(kCells);
  std::mt19937 random(1);
  for (uint32_t i = 0; i < 3000; ++i) numbering.element_cells.push_back(pick(random, kCells));
  CellLists lists(numbering);
  std::map<uint32_t, std::set<uint32_t>> plain;
  for (int step = 0; step < 40'000; ++step) {
    const auto element = pick(random, 3000);
    const uint32_t cell = numbering.element_cells[element];
    const bool there = plain[cell].count(element) != 0;
    ASSERT_EQ(lists.contains(element), there);
    if (there) {
      lists.remove(element);
      plain[cell].erase(element);
    } else {
      lists.insert(element);
      plain[cell].insert(element);
    }
    ASSERT_EQ(lists.count(cell), plain[cell].size());
    std::set<uint32_t> listed;
    for (uint32_t e = lists.first(cell); e != kNoNumber; e = lists.after(e)) listed.insert(e);
    ASSERT_EQ(listed, plain[cell]);
    if (plain[cell].empty()) plain.erase(cell);
    const auto from = pick(random, kCells + 10);
    const auto next = plain.lower_bound(from);
    ASSERT_EQ(lists.next_occupied(from), next == plain.end() ? kNoNumber : next->first);
  }
}

TEST(FlatTable, NumbersKeysAndTagsInTheOrderOfTheirFirstUse) {
  FlatTable table(0);
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> plain;
  std::mt19937_64 random(1);
  for (int step = 0; step < 50'000; ++step) {
    const uint64_t key = random() % 9000 * (step % 2 == 0 ? 1 : uint64_t{1} << 40);
    const auto tag = static_cast<uint32_t>(random() % 3);
    const auto known = plain.find({key, tag});
    ASSERT_EQ(table.find(key, tag), known == plain.end() ? 0xffffffff : known->second);
    const auto number = static_cast<uint32_t>(plain.size());
    plain.emplace(std::pair{key, tag}, number);
    ASSERT_EQ(table.number_of(key, tag), (plain[{key, tag}]));
  }
  EXPECT_EQ(table.size(), plain.size());
}

TEST(Graph, FindsCyclesOnPathsOfAnyLength) {
  constexpr uint32_t kNodes = 1'000'000;
  std::vector<GraphEdge> edges;
  for (uint32_t i = 0; i + 1 < kNodes; ++i) edges.push_back({i, i + 1});
  EXPECT_TRUE(Graph(kNodes, edges).components().empty());
  edges.push_back({kNodes - 1, kNodes / 2});
  const auto cycles = Graph(kNodes, edges).components();
  ASSERT_EQ(cycles.size(), 1u);
  EXPECT_EQ(cycles[0].size(), kNodes / 2);
}

// Compares components() with the transitive closure of random graphs. LIMIT: this test is longer or
// has more branches than the repository allows, because it contains the plain algorithm with which
// it compares.
TEST(Graph, ComponentsAreNodesThatReachEachOther) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    constexpr uint32_t kNodes = 12;
    std::vector<GraphEdge> edges;
    bool reaches[kNodes][kNodes] = {};
    for (uint32_t i = 0; i < 10 + seed % 12; ++i) {
      const GraphEdge edge{pick(random, kNodes), pick(random, kNodes)};
      if (edge.from == edge.to) continue;
      edges.push_back(edge);
      reaches[edge.from][edge.to] = true;
    }
    for (uint32_t k = 0; k < kNodes; ++k) {
      for (auto& row : reaches) {
        for (uint32_t j = 0; j < kNodes; ++j) row[j] |= row[k] && reaches[k][j];
      }
    }
    std::set<std::set<uint32_t>> expected;
    for (uint32_t i = 0; i < kNodes; ++i) {
      std::set<uint32_t> cycle;
      for (uint32_t j = 0; j < kNodes; ++j) {
        if (reaches[i][j] && reaches[j][i]) cycle.insert(j);
      }
      if (!cycle.empty()) expected.insert(cycle);
    }
    std::set<std::set<uint32_t>> found;
    const Graph graph(kNodes, edges);
    for (const auto& cycle : graph.components()) found.emplace(cycle.begin(), cycle.end());
    ASSERT_EQ(found, expected) << "seed " << seed;

    std::vector<uint32_t> priorities(kNodes);
    for (uint32_t i = 0; i < kNodes; ++i) priorities[i] = i;
    const std::vector<uint32_t> order = graph.order(priorities);
    EXPECT_EQ(order.size() == kNodes, expected.empty());
    for (const GraphEdge& edge : edges) {
      const auto to = std::find(order.begin(), order.end(), edge.to);
      EXPECT_TRUE(to == order.end() || std::find(order.begin(), to, edge.from) != to);
    }
  }
}

TEST(Graph, OrderTakesTheReadyNodeWithTheSmallestPriority) {
  const Graph graph(4, {{3, 0}});
  EXPECT_EQ(graph.order({0, 7, 5, 6}), (std::vector<uint32_t>{2, 3, 0, 1}));
}

}  // namespace
}  // namespace keydrome
