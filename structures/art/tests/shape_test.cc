// Tests what only this tree has: the kinds of its nodes, merged paths, memory per pair, and a
// check() that detects damage.
#include <gtest/gtest.h>

#include <algorithm>
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

// The only node is as large as its children need, and shrinks later than it grew.
TEST(ArtShape, NodesGrowAndShrink) {
  OwnedTree owned;
  const auto key = [](uint32_t i) { return big_endian(uint64_t{i} << 8, 4); };
  for (uint32_t i = 0; i < 256; ++i) {
    ASSERT_EQ(owned.put(key(i)), 1);
    const uint32_t count = i + 1;
    const uint32_t expected = count == 1    ? 0
                              : count <= 4  ? 4
                              : count <= 16 ? 16
                              : count <= 48 ? 48
                                            : 256;
    ASSERT_EQ(owned.tree->slots(), expected) << count;
    ASSERT_EQ(owned.tree->slots_used(), count == 1 ? 0 : count);
  }
  for (uint32_t count = 255; count > 0; --count) {
    ASSERT_EQ(owned.del(key(count)), 1);
    const uint32_t expected = count == 1            ? 0
                              : count <= kShrink16  ? 4
                              : count <= kShrink48  ? 16
                              : count <= kShrink256 ? 48
                                                    : 256;
    ASSERT_EQ(owned.tree->slots(), expected) << count;
    ASSERT_EQ(owned.tree->check(), 0);
  }
}

TEST(ArtShape, NodesWithOneChildDisappear) {
  OwnedTree owned;
  for (const char* key : {"abcdef", "abcxyz", "abcdeg"}) ASSERT_EQ(owned.put(key), 1);
  EXPECT_EQ(owned.tree->nodes(), 2u);
  EXPECT_EQ(owned.tree->height(), 2u);
  EXPECT_EQ(owned.del("abcdeg"), 1);
  EXPECT_EQ(owned.tree->nodes(), 1u);
  EXPECT_EQ(owned.del("abcxyz"), 1);
  EXPECT_EQ(owned.tree->nodes(), 0u);
}

TEST(ArtShape, OnlyPrefixesNeedForks) {
  OwnedTree owned;
  ASSERT_EQ(owned.put("abc"), 1);
  ASSERT_EQ(owned.put("abcd"), 1);
  EXPECT_EQ(owned.tree->slots(), 2u);
  ASSERT_EQ(owned.put("abce"), 1);  // a Node4 after the fork, of equal depth
  EXPECT_EQ(owned.tree->slots(), 2u + Node4::kCapacity);
  EXPECT_EQ(owned.tree->check(), 0);
  ASSERT_EQ(owned.del("abc"), 1);
  EXPECT_EQ(owned.tree->slots(), Node4::kCapacity);
  EXPECT_EQ(owned.tree->check(), 0);
}

TEST(ArtShape, BytesPerPairOfDenseKeys) {
  OwnedTree owned;
  constexpr uint32_t kPairs = 65536;
  for (uint32_t i = 0; i < kPairs; ++i) ASSERT_EQ(owned.put(big_endian(i, 8), "12345678"), 1);
  const double bytes_per_pair = static_cast<double>(owned.environment.bytes()) / kPairs;
  EXPECT_LT(bytes_per_pair, 24.5);  // a leaf of 16 bytes, and a link of 8 in a Node256
}

TEST(ArtShape, LinksContainWhatSearchesNeed) {
  alignas(8) const char bytes[8] = {};
  const Link leaf = Link::leaf(bytes, KEYDROME_KEY_BYTES_MAX, KEYDROME_PAYLOAD_BYTES_MAX);
  EXPECT_FALSE(leaf.is_node());
  EXPECT_EQ(leaf.at<const char>(), bytes);
  EXPECT_EQ(leaf.key_size(), KEYDROME_KEY_BYTES_MAX);
  EXPECT_EQ(leaf.payload_size(), KEYDROME_PAYLOAD_BYTES_MAX);
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

TEST(ArtShape, CheckSeesDamage) {
  OwnedTree owned;
  for (const char* key : {"a", "ab", "ac", "b1", "b2", "c"}) ASSERT_EQ(owned.put(key), 1);
  ASSERT_EQ(owned.tree->check(), 0);
  const Link root = owned.tree->root();
  ASSERT_EQ(root.kind(), Kind::kNode4);
  Node4& node = *root.at<Node4>();

  std::swap(node.bytes[0], node.bytes[1]);
  EXPECT_NE(owned.tree->check(), 0);
  std::swap(node.bytes[0], node.bytes[1]);

  std::swap(node.children[0], node.children[1]);
  EXPECT_NE(owned.tree->check(), 0);
  std::swap(node.children[0], node.children[1]);

  node.bytes[3] ^= 1;  // unused, must repeat the largest byte
  EXPECT_NE(owned.tree->check(), 0);
  node.bytes[3] ^= 1;

  --node.count;
  EXPECT_NE(owned.tree->check(), 0);
  ++node.count;

  Fork& fork = *node.children[0].at<Fork>();
  std::swap(fork.end, fork.rest);
  EXPECT_NE(owned.tree->check(), 0);
  std::swap(fork.end, fork.rest);

  uint8_t& byte = *minimum(node.children[1]).at<uint8_t>();
  byte ^= 1;
  EXPECT_NE(owned.tree->check(), 0);
  byte ^= 1;
  EXPECT_EQ(owned.tree->check(), 0);
}

}  // namespace
}  // namespace keydrome::art
