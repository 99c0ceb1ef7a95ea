// Tests features that only the adaptive radix tree has: pages (leaves of 2 to 32 pairs), the kinds
// of its nodes, merged paths, memory per pair, and a check() that detects damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "structures/art/search.h"
#include "structures/art/tree.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::art {
namespace {

struct OwnedTree {
  OwnedTree() : tree(Tree::create(*environment.get())) {}
  OwnedTree(const OwnedTree&) = delete;
  OwnedTree& operator=(const OwnedTree&) = delete;
  ~OwnedTree() { Tree::destroy(tree); }

  int put(const std::string& key, const std::string& payload = "") {
    return tree->put(Pair::of(bytes_of(key), bytes_of(payload)));
  }
  int del(const std::string& key) {
    return tree->del(Pair::of(bytes_of(key), bytes_of(std::string())));
  }

  WatchedEnvironment environment;
  Tree* tree;
};

std::string numbered(const std::string& prefix, uint32_t number) {
  return prefix + std::to_string(10000 + number);
}

TEST(ArtShape, PairsShareAPageUntilItIsFull) {
  OwnedTree owned;
  ASSERT_EQ(owned.put(numbered("key", 0)), 1);
  EXPECT_EQ(owned.tree->root().kind(), Kind::kLeaf);
  for (uint32_t i = 1; i < kPagePairs; ++i) {
    ASSERT_EQ(owned.put(numbered("key", i)), 1);
    ASSERT_EQ(owned.tree->root().kind(), Kind::kPage);
    ASSERT_EQ(owned.tree->root().page_pairs(), i + 1);
  }
  EXPECT_EQ(owned.tree->nodes(), 0u);
  ASSERT_EQ(owned.put(numbered("key", kPagePairs)), 1);
  EXPECT_EQ(owned.tree->nodes(), 1u);
  EXPECT_EQ(owned.tree->root().depth(), 6u);  // all pairs have the same first 6 digits
  EXPECT_EQ(owned.tree->check(), 0);
}

TEST(ArtShape, PagesOfLargePairsAreDividedEarlier) {
  OwnedTree owned;
  const std::string payload(KEYDROME_PAYLOAD_BYTES_MAX, 'p');
  uint32_t pairs = 0;
  while (owned.tree->nodes() == 0) ASSERT_EQ(owned.put(numbered("key", pairs++), payload), 1);
  EXPECT_GE(pairs, kPageBytes / 120);
  EXPECT_LE(pairs, kPageBytes / 100 + 1);
  EXPECT_EQ(owned.tree->check(), 0);
}

TEST(ArtShape, DeletionsMarkPairsAndThenShrinkThePage) {
  OwnedTree owned;
  for (uint32_t i = 0; i < 20; ++i) ASSERT_EQ(owned.put(numbered("key", i)), 1);
  const size_t bytes = owned.environment.bytes();
  owned.environment.fail_after(0);
  for (uint32_t i = 0; i < 10; ++i) ASSERT_EQ(owned.del(numbered("key", i)), 1);
  EXPECT_EQ(owned.environment.bytes(), bytes);
  // fewer than half of the pairs are live, but there is no memory for a smaller page
  ASSERT_EQ(owned.del(numbered("key", 10)), 1);
  EXPECT_EQ(owned.environment.bytes(), bytes);
  owned.environment.fail_after(-1);
  ASSERT_EQ(owned.del(numbered("key", 11)), 1);
  EXPECT_EQ(owned.tree->root().page_pairs(), 8u);
  EXPECT_LT(owned.environment.bytes(), bytes);

  ASSERT_EQ(owned.del(numbered("key", 15)), 1);
  EXPECT_EQ(owned.del(numbered("key", 15)), 0);
  EXPECT_EQ(owned.tree->root().page_pairs(), 8u);
  ASSERT_EQ(owned.put(numbered("key", 15)), 1);
  EXPECT_EQ(owned.put(numbered("key", 15)), 0);
  EXPECT_EQ(owned.tree->root().page_pairs(), 8u);
  EXPECT_EQ(owned.tree->check(), 0);
}

// A node has the smallest kind that has room for its children. When it loses children, it changes
// to a smaller kind only at a smaller number of children than the one at which it grew. Each child
// is a page of 24 pairs, so no node becomes a page, which would need at most 20 pairs.
TEST(ArtShape, NodesGrowAndShrink) {
  constexpr uint32_t kPairsOfChild = 24;
  OwnedTree owned;
  const auto key = [](uint32_t child, uint32_t i) { return big_endian(child << 8 | i, 4); };
  for (uint32_t child = 0; child < 256; ++child) {
    for (uint32_t i = 0; i < kPairsOfChild; ++i) ASSERT_EQ(owned.put(key(child, i)), 1);
    const uint32_t count = child + 1;
    const uint32_t expected = count == 1    ? 0
                              : count <= 4  ? 4
                              : count <= 16 ? 16
                              : count <= 48 ? 48
                                            : 256;
    ASSERT_EQ(owned.tree->slots(), expected) << count;
    ASSERT_EQ(owned.tree->slots_used(), expected == 0 ? 0 : count);
  }
  for (uint32_t count = 255; count > 0; --count) {
    for (uint32_t i = 0; i < kPairsOfChild; ++i) ASSERT_EQ(owned.del(key(count, i)), 1);
    const uint32_t expected = count == 1            ? 0
                              : count <= kShrink16  ? 4
                              : count <= kShrink48  ? 16
                              : count <= kShrink256 ? 48
                                                    : 256;
    ASSERT_EQ(owned.tree->slots(), expected) << count;
    ASSERT_EQ(owned.tree->check(), 0);
  }
}

// A full page of pairs that differ in one byte becomes a node with a leaf for each pair. When
// deletions have left 20 pairs, the node becomes a page again, unless there is no memory for it.
TEST(ArtShape, NodesOfFewPairsBecomePages) {
  OwnedTree owned;
  const auto key = [](uint32_t i) { return big_endian(uint64_t{i} << 8, 4); };
  uint32_t pairs = 0;
  while (pairs <= kPagePairs) ASSERT_EQ(owned.put(key(pairs++)), 1);
  const size_t bytes = owned.environment.bytes();
  while (pairs > 21) {
    ASSERT_EQ(owned.del(key(--pairs)), 1);
    ASSERT_EQ(owned.tree->nodes(), 1u) << pairs;
  }
  owned.environment.fail_after(0);
  ASSERT_EQ(owned.del(key(--pairs)), 1);
  EXPECT_EQ(owned.tree->nodes(), 1u);
  owned.environment.fail_after(-1);
  ASSERT_EQ(owned.del(key(--pairs)), 1);
  EXPECT_EQ(owned.tree->nodes(), 0u);
  EXPECT_EQ(owned.tree->root().page_pairs(), 19u);
  EXPECT_LT(owned.environment.bytes(), bytes / 3);
  EXPECT_EQ(owned.tree->check(), 0);
  for (uint32_t i = 0; i < pairs; ++i) ASSERT_EQ(owned.del(key(i)), 1);
  EXPECT_TRUE(owned.tree->root().is_none());
}

// Pairs that were deleted in a page do not come back when the node above the page is merged into
// one page.
TEST(ArtShape, MergedPagesHaveOnlyLivePairs) {
  OwnedTree owned;
  for (uint32_t i = 0; i < 15; ++i) {
    ASSERT_EQ(owned.put(numbered("abcd", i)), 1);
    ASSERT_EQ(owned.put(numbered("abcx", i)), 1);
  }
  for (uint32_t i = 15; owned.tree->nodes() == 0; ++i) ASSERT_EQ(owned.put(numbered("abcd", i)), 1);
  for (uint32_t i = 0; i < 3; ++i) ASSERT_EQ(owned.del(numbered("abcx", i)), 1);
  uint32_t deleted = 0;
  while (owned.tree->nodes() > 0) ASSERT_EQ(owned.del(numbered("abcd", deleted++)), 1);
  EXPECT_EQ(owned.tree->check(), 0);
  for (uint32_t i = 0; i < deleted; ++i) ASSERT_EQ(owned.del(numbered("abcd", i)), 0);
  for (uint32_t i = 0; i < 15; ++i) ASSERT_EQ(owned.del(numbered("abcx", i)), i < 3 ? 0 : 1);
}

// Each step inserts one child, a page of 30 pairs. A small node is replaced by a copy when it gets
// a child.
TEST(ArtShape, SmallNodesGrow) {
  OwnedTree owned;
  for (uint32_t byte = 0; byte < 20; ++byte) {
    const std::string prefix(1, static_cast<char>('A' + (byte * 7) % 20));
    for (uint32_t i = 0; i < 30; ++i) ASSERT_EQ(owned.put(numbered(prefix, i)), 1);
    const uint32_t count = byte + 1;
    const uint32_t expected = count == 1 ? 0 : count <= 4 ? 4 : count <= 16 ? 16 : 48;
    ASSERT_EQ(owned.tree->slots(), expected) << count;
    ASSERT_EQ(owned.tree->check(), 0);
  }
}

TEST(ArtShape, NodesWithOneChildDisappear) {
  OwnedTree owned;
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_EQ(owned.put(numbered("abcd", i)), 1);
    ASSERT_EQ(owned.put(numbered("abcx", i)), 1);
  }
  EXPECT_EQ(owned.tree->nodes(), 1u);
  EXPECT_EQ(owned.tree->height(), 1u);
  EXPECT_EQ(owned.tree->slots_used(), 2u);
  for (uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(owned.tree->nodes(), 1u);
    ASSERT_EQ(owned.del(numbered("abcd", i)), 1);
  }
  EXPECT_EQ(owned.tree->nodes(), 0u);
  EXPECT_EQ(owned.tree->check(), 0);
}

TEST(ArtShape, OnlyPrefixesNeedForks) {
  OwnedTree owned;
  ASSERT_EQ(owned.put("abc"), 1);
  for (char byte = 'A'; byte < 'A' + 32; ++byte) {
    ASSERT_EQ(owned.put("abc" + std::string(1, byte)), 1);
  }
  EXPECT_EQ(owned.tree->slots(), 2u);
  ASSERT_EQ(owned.put("abcz"),
            1);  // a Node48 is added below the first node, for the same byte of the key
  EXPECT_EQ(owned.tree->slots(), 2u + Node48::kCapacity);
  EXPECT_EQ(owned.tree->check(), 0);
  ASSERT_EQ(owned.del("abc"), 1);
  EXPECT_EQ(owned.tree->slots(), Node48::kCapacity);
  EXPECT_EQ(owned.tree->check(), 0);
}

TEST(ArtShape, BytesPerPairOfRandomKeys) {
  OwnedTree owned;
  constexpr uint32_t kPairs = 65536;
  for (uint64_t i = 0; i < kPairs; ++i) {
    ASSERT_EQ(owned.put(big_endian(i * 0x9E3779B97F4A7C15u, 8), "12345678"), 1);
  }
  const double bytes_per_pair = static_cast<double>(owned.environment.bytes()) / kPairs;
  EXPECT_LT(bytes_per_pair, 36);
}

TEST(ArtShape, BytesPerPairOfDenseKeys) {
  OwnedTree owned;
  constexpr uint32_t kPairs = 65536;
  for (uint32_t i = 0; i < kPairs; ++i) ASSERT_EQ(owned.put(big_endian(i, 8), "12345678"), 1);
  const double bytes_per_pair = static_cast<double>(owned.environment.bytes()) / kPairs;
  EXPECT_LT(bytes_per_pair, 24.5);  // a leaf of 16 bytes, and a link of 8 in a Node256
}

TEST(ArtShape, LinksContainWhatSearchesNeed) {
  alignas(16) const char bytes[16] = {};
  const Link leaf = Link::leaf(bytes, KEYDROME_KEY_BYTES_MAX, KEYDROME_PAYLOAD_BYTES_MAX);
  EXPECT_FALSE(leaf.is_node());
  EXPECT_EQ(leaf.at<const char>(), bytes);
  EXPECT_EQ(leaf.key_size(), KEYDROME_KEY_BYTES_MAX);
  EXPECT_EQ(leaf.payload_size(), KEYDROME_PAYLOAD_BYTES_MAX);
  const Link page = Link::page(bytes, kPagePairs, true, Link::kPageBytesMax - Link::kUnit);
  EXPECT_FALSE(page.is_node());
  EXPECT_EQ(page.page_pairs(), kPagePairs);
  EXPECT_TRUE(page.is_uniform());
  EXPECT_EQ(page.page_bytes(), Link::kPageBytesMax - Link::kUnit);
  const Link node = Link::node(bytes, Kind::kNode256, kDigitsMax - 1);
  EXPECT_TRUE(node.is_node());
  EXPECT_EQ(node.kind(), Kind::kNode256);
  EXPECT_EQ(node.at<const char>(), bytes);
  EXPECT_EQ(node.depth(), kDigitsMax - 1);
  EXPECT_TRUE(Link().is_none());
}

TEST(ArtShape, SearchInSmallNodesFindsEveryByte) {
  Node4 four{};
  Node16 sixteen{};
  const uint8_t bytes[] = {0, 1, 127, 128, 129, 254, 255};
  for (const uint8_t low : bytes) {
    for (const uint8_t high : bytes) {
      if (low >= high) continue;
      for (uint32_t i = 0; i < 4; ++i) four.bytes[i] = i == 0 ? low : high;
      for (uint32_t i = 0; i < 16; ++i) sixteen.bytes[i] = i == 0 ? low : high;
      for (uint32_t byte = 0; byte < 256; ++byte) {
        const auto searched = static_cast<uint8_t>(byte);
        const uint32_t expected = searched == low ? 0 : searched == high ? 1 : UINT32_MAX;
        ASSERT_EQ(index_of(four, searched), std::min(expected, Node4::kCapacity));
        ASSERT_EQ(index_of(sixteen, searched), std::min(expected, Node16::kCapacity));
      }
    }
  }
}

std::string word(uint64_t number) { return big_endian(number, 8); }

// A word page takes pairs without memory until its slots are full.
TEST(ArtShape, WordPagesGrowInSteps) {
  OwnedTree owned;
  ASSERT_EQ(owned.put(word(0), word(0)), 1);
  EXPECT_EQ(owned.tree->root().kind(), Kind::kLeaf);
  uint32_t slots = 1;
  for (uint32_t pairs = 1; pairs < kPagePairs; ++pairs) {
    owned.environment.fail_after(0);
    const int result = owned.put(word(pairs * 7 % 32), word(pairs));
    owned.environment.fail_after(-1);
    ASSERT_EQ(result, pairs == slots ? KEYDROME_NO_MEMORY : 1) << pairs;
    if (pairs == slots) {
      ASSERT_EQ(owned.put(word(pairs * 7 % 32), word(pairs)), 1);
    }
    ASSERT_EQ(owned.put(word(pairs * 7 % 32), word(pairs)), 0);
    ASSERT_EQ(owned.tree->root().kind(), Kind::kWords);
    slots = owned.tree->root().slots();
    ASSERT_EQ(slots, Words::slots_for(pairs + 1));
    ASSERT_EQ(owned.tree->check(), 0);
  }
  EXPECT_EQ(slots, kPagePairs);
  ASSERT_EQ(owned.put(word(32), word(32)), 1);
  EXPECT_EQ(owned.tree->nodes(), 1u);
  EXPECT_EQ(owned.tree->check(), 0);
}

TEST(ArtShape, PayloadsOfWordPagesAreReplacedInPlace) {
  OwnedTree owned;
  for (uint32_t i = 0; i < 3; ++i) ASSERT_EQ(owned.put(word(i), word(i)), 1);
  const auto replace = [&](uint64_t key, uint64_t before, uint64_t now) {
    const std::string bytes = word(key), old = word(before), fresh = word(now);
    return owned.tree->replace(Pair::of(bytes_of(bytes), bytes_of(old)),
                               Pair::of(bytes_of(bytes), bytes_of(fresh)));
  };
  owned.environment.fail_after(0);
  EXPECT_EQ(replace(1, 1, 5), 1);
  EXPECT_EQ(replace(1, 1, 5), 0);
  EXPECT_EQ(replace(1, 5, 5), 2);
  ASSERT_EQ(owned.put(word(1), word(4)), 1);  // the fourth slot
  EXPECT_EQ(replace(1, 5, 4), 2);
  // Two slots have the key, so the page must be copied, even after one pair was deleted.
  EXPECT_EQ(replace(1, 5, 6), KEYDROME_NO_MEMORY);
  const std::string key = word(1), payload = word(4);
  ASSERT_EQ(owned.tree->del(Pair::of(bytes_of(key), bytes_of(payload))), 1);
  EXPECT_EQ(replace(1, 5, 6), KEYDROME_NO_MEMORY);
  owned.environment.fail_after(-1);
  EXPECT_EQ(replace(1, 5, 6), 1);
  owned.environment.fail_after(0);
  EXPECT_EQ(replace(1, 6, 7), 1);
  EXPECT_EQ(owned.tree->check(), 0);
}

TEST(ArtShape, WordPagesShrink) {
  OwnedTree owned;
  for (uint32_t i = 0; i < 16; ++i) ASSERT_EQ(owned.put(word(i), word(i)), 1);
  const auto del = [&](uint32_t i) {
    const std::string bytes = word(i);
    return owned.tree->del(Pair::of(bytes_of(bytes), bytes_of(bytes)));
  };
  owned.environment.fail_after(0);
  for (uint32_t i = 0; i < 9; ++i) ASSERT_EQ(del(i), 1);
  EXPECT_EQ(owned.tree->root().slots(), 16u);
  owned.environment.fail_after(-1);
  ASSERT_EQ(del(9), 1);
  EXPECT_EQ(owned.tree->root().slots(), 8u);
  for (uint32_t i = 10; i < 16; ++i) ASSERT_EQ(del(i), 1);
  EXPECT_TRUE(owned.tree->root().is_none());
}

TEST(ArtShape, CheckSeesDamageOfWordPages) {
  OwnedTree owned;
  for (uint32_t i = 0; i < 3; ++i) ASSERT_EQ(owned.put(word(i), word(i)), 1);
  ASSERT_EQ(owned.tree->check(), 0);
  auto* numbers = owned.tree->root().at<uint32_t>();
  for (const uint32_t at : {1, 2}) {  // the live slots, and the slots that were ever used
    const uint32_t before = numbers[at];
    for (const uint32_t wrong : {0u, 2u, 9u, 23u}) {
      numbers[at] = wrong;
      EXPECT_EQ(owned.tree->check() != 0, at == 2 || wrong != 2) << at << " " << wrong;
    }
    numbers[at] = before;
  }
  auto* bytes = owned.tree->root().at<uint8_t>();
  constexpr uint32_t kFirstKey = 16, kEntry = 16;
  for (const uint32_t at : {12u, 13u, 14u, kFirstKey + 7, kFirstKey + kEntry}) {  // tags and keys
    bytes[at] ^= 1;
    EXPECT_NE(owned.tree->check(), 0) << at;
    bytes[at] ^= 1;
  }
  EXPECT_EQ(owned.tree->check(), 0);
  std::memcpy(bytes + kFirstKey, bytes + kFirstKey + kEntry, kEntry);  // one pair twice
  bytes[12] = bytes[13];
  EXPECT_NE(owned.tree->check(), 0);
}

void swap_slots(Slot& a, Slot& b) {
  const Link link = a.load();
  a.store(b.load());
  b.store(link);
}

TEST(ArtShape, CheckSeesDamage) {
  OwnedTree owned;
  ASSERT_EQ(owned.put("a"), 1);
  for (uint32_t i = 0; i < kPagePairs; ++i) ASSERT_EQ(owned.put(numbered("ab", i)), 1);
  for (const char* key : {"b1", "b2", "c"}) ASSERT_EQ(owned.put(key), 1);
  ASSERT_EQ(owned.tree->check(), 0);
  const Link root = owned.tree->root();
  ASSERT_EQ(root.kind(), Kind::kNode4);
  Node4& node = *root.at<Node4>();

  std::swap(node.bytes[0], node.bytes[1]);
  EXPECT_NE(owned.tree->check(), 0);
  std::swap(node.bytes[0], node.bytes[1]);

  swap_slots(node.children[0], node.children[1]);
  EXPECT_NE(owned.tree->check(), 0);
  swap_slots(node.children[0], node.children[1]);

  node.bytes[3] ^= 1;  // an unused element: it must repeat the largest byte
  EXPECT_NE(owned.tree->check(), 0);
  node.bytes[3] ^= 1;

  for (uint8_t* number : {&node.count, &node.live}) {
    --*number;
    EXPECT_NE(owned.tree->check(), 0);
    ++*number;
  }

  ASSERT_EQ(node.children[0].load().kind(), Kind::kFork);
  Fork& fork = *node.children[0].load().at<Fork>();
  swap_slots(fork.end, fork.rest);
  EXPECT_NE(owned.tree->check(), 0);
  swap_slots(fork.end, fork.rest);

  const Link page = node.children[1].load();
  ASSERT_EQ(page.kind(), Kind::kPage);
  for (const uint32_t at : {Page::kTagsAt, Page::records_at(2, true) + kRecordHead}) {
    uint8_t& byte = page.at<uint8_t>()[at];
    byte ^= 1;
    EXPECT_NE(owned.tree->check(), 0);
    byte ^= 1;
  }
  EXPECT_EQ(owned.tree->check(), 0);
}

}  // namespace
}  // namespace keydrome::art
