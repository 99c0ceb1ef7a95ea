// Tests features that only this B+-tree has: splits, merges, short separators, and a check() that
// detects damage. The test of contract B, the interface of a data structure (keydrome/structure.h),
// covers the features that all structures have.
#include <gtest/gtest.h>

#include <string>

#include "structures/btree/separator.h"
#include "structures/btree/tree.h"
#include "structures/tests/pair_source.h"

namespace keydrome::btree {
namespace {

struct OwnedTree {
  OwnedTree() : tree(Tree::create(*environment.get())) {}
  OwnedTree(const OwnedTree&) = delete;
  OwnedTree& operator=(const OwnedTree&) = delete;
  ~OwnedTree() { Tree::destroy(tree); }

  int put(const std::string& key) { return tree->put(Probe::of(bytes_of(key), kNoPayload)); }
  int del(const std::string& key) { return tree->del(Probe::of(bytes_of(key), kNoPayload)); }

  WatchedEnvironment environment;
  Tree* tree;
};

TEST(BtreeShape, AscendingInsertsFillTheLeaves) {
  OwnedTree owned;
  constexpr uint32_t kPairs = 56 * 57;  // 57 leaves with kAppendKeep = 56 entries, one inner node
  for (uint32_t i = 0; i < kPairs; ++i) ASSERT_EQ(owned.put(big_endian(i, 4)), 1);
  EXPECT_EQ(owned.tree->height(), 2u);
  EXPECT_EQ(owned.tree->check(), 0);
  const double bytes_per_pair = static_cast<double>(owned.tree->bytes()) / kPairs;
  EXPECT_LT(bytes_per_pair, 30.0);  // per pair: leaf 19 bytes, entry 6, inner node 1
}

TEST(BtreeShape, HeightFallsAgain) {
  OwnedTree owned;
  constexpr uint32_t kPairs = 100000;
  for (uint32_t i = 0; i < kPairs; ++i) owned.put(big_endian(i * 2654435761u, 4));
  const uint64_t highest = owned.tree->height();
  EXPECT_GE(highest, 3u);
  for (uint32_t i = 0; i < kPairs; ++i) ASSERT_EQ(owned.del(big_endian(i * 2654435761u, 4)), 1);
  EXPECT_EQ(owned.tree->height(), 1u);
  EXPECT_EQ(owned.tree->bytes(), owned.environment.bytes());
  EXPECT_LT(owned.tree->bytes(), 2u * sizeof(Leaf));
}

// An entry that is stored in a buffer of its own, for tests of functions that take entries.
struct Text {
  Text(const std::string& key, const std::string& payload) {
    auto* made =
        new (bytes) Entry{static_cast<uint8_t>(key.size()), static_cast<uint8_t>(payload.size())};
    key.copy(reinterpret_cast<char*>(made + 1), key.size());
    payload.copy(reinterpret_cast<char*>(made + 1) + key.size(), payload.size());
  }
  const Entry& entry() const { return *reinterpret_cast<const Entry*>(bytes); }
  uint8_t bytes[256];
};

TEST(BtreeShape, SeparatorsAreCutShort) {
  const auto size = [](const Text& left, const Text& right) {
    const SeparatorSize cut = separator_size(left.entry(), right.entry());
    return std::pair{cut.key_size, cut.payload_size};
  };
  EXPECT_EQ(size({"abcdef", "x"}, {"abq", "y"}), std::pair(3u, 0u));
  EXPECT_EQ(size({"ab", "x"}, {"abcdef", "y"}), std::pair(3u, 0u));
  EXPECT_EQ(size({"", ""}, {"abc", ""}), std::pair(1u, 0u));
  EXPECT_EQ(size({"ab", "xyz"}, {"ab", "xzz"}), std::pair(2u, 2u));
  EXPECT_EQ(size({"ab", ""}, {"ab", "x"}), std::pair(2u, 1u));
}

TEST(BtreeShape, HeadsOrderAsKeysDo) {
  const std::string keys[] = {"",    std::string(1, '\0'), std::string(8, '\0'), "a",
                              "ab",  "abcdefgh",           "abcdefghi",          "b",
                              "\xFF"};
  for (const std::string& a : keys) {
    for (const std::string& b : keys) {
      const auto head = [](const std::string& key) {
        return head_of(reinterpret_cast<const uint8_t*>(key.data()), key.size());
      };
      if (head(a) < head(b)) {
        EXPECT_LT(a, b);
      }
      if (a < b) {
        EXPECT_LE(head(a), head(b));
      }
    }
  }
}

TEST(BtreeShape, CheckSeesDamage) {
  OwnedTree owned;
  for (uint32_t i = 0; i < 1000; ++i) owned.put(big_endian(i, 4));
  ASSERT_EQ(owned.tree->check(), 0);
  Node* node = owned.tree->root();
  while (!node->is_leaf) node = as_inner(node)->children[0];
  Leaf* leaf = as_leaf(node);

  leaf->heads[3] ^= 1;
  EXPECT_NE(owned.tree->check(), 0);
  leaf->heads[3] ^= 1;

  std::swap(leaf->entries[1], leaf->entries[2]);
  std::swap(leaf->heads[1], leaf->heads[2]);
  EXPECT_NE(owned.tree->check(), 0);
  std::swap(leaf->entries[1], leaf->entries[2]);
  std::swap(leaf->heads[1], leaf->heads[2]);

  Leaf* next = leaf->next;
  leaf->next = next->next;
  EXPECT_NE(owned.tree->check(), 0);
  leaf->next = next;

  --leaf->count;
  EXPECT_NE(owned.tree->check(), 0);
  ++leaf->count;
  EXPECT_EQ(owned.tree->check(), 0);
}

}  // namespace
}  // namespace keydrome::btree
