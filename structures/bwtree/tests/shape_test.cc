// Tests what only the Bw-tree has: deltas, pages that are split, merged or frozen (page.h), the
// shape of the tree after a lack of memory, and a check() that sees damage. The test of contract B,
// the interface of a data structure (keydrome/structure.h), covers what all structures have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "structures/bwtree/search.h"
#include "structures/bwtree/tree.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::bwtree {
namespace {

// A tree with functions that accept numbers. Each number has one payload: the number itself.
class TreeTest : public testing::Test {
 protected:
  int put(uint64_t number) {
    const std::string bytes = big_endian(number, 8);
    return tree_.put(bytes_of(bytes), bytes_of(bytes));
  }
  int del(uint64_t number) {
    const std::string bytes = big_endian(number, 8);
    return tree_.del(bytes_of(bytes), bytes_of(bytes));
  }
  bool has(uint64_t number) const {
    char bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer payload{bytes, 0, sizeof bytes};
    const std::string key = big_endian(number, 8);
    return tree_.find(bytes_of(key), kNoPayload, payload) == 1;
  }
  // Returns how many pairs scans find, in runs of 20.
  uint64_t scanned() const {
    uint64_t count = 0;
    std::string from;
    for (bool more = true; more;) {
      RunBuffer run(20);
      more = tree_.scan(bytes_of(from), kNoPayload, count > 0, *run.get()) == 1;
      const auto pairs = run.pairs();
      count += pairs.size();
      if (!pairs.empty()) from = pairs.back().first;
    }
    return count;
  }
  uint64_t pages() const { return tree_.statistic(KEYDROME_STATISTIC_NODES); }
  const Page& root() { return *tree_.root().page.load(); }
  Slot* child(uint32_t index) { return base(root()).children()[index]; }

  WatchedEnvironment environment_;
  const KeydromeSetup setup_{sizeof(KeydromeSetup), 8, nullptr};
  Tree tree_{*environment_.get(), setup_};
};

TEST_F(TreeTest, ALeafGetsANewBaseAfterSomeDeltas) {
  const Base* first = &base_of(root());
  for (uint64_t i = 1; i < kDeltasUsual; ++i) {
    put(i);
    EXPECT_EQ(root().deltas, i);
    EXPECT_EQ(&base_of(root()), first);
  }
  put(kDeltasUsual);
  EXPECT_EQ(root().kind, Kind::kBase);
  EXPECT_EQ(base(root()).count, kDeltasUsual);
}

// If a pair was changed several times since the base was made, its newest delta decides.
TEST_F(TreeTest, TheNewestDeltaOfAPairCounts) {
  for (uint64_t i = 0; i < kDeltasUsual; ++i) put(2 * i);
  ASSERT_EQ(root().kind, Kind::kBase);
  EXPECT_EQ(del(4), 1);
  EXPECT_EQ(del(4), 0);
  EXPECT_FALSE(has(4));
  EXPECT_EQ(put(4), 1);
  EXPECT_EQ(put(5), 1);
  EXPECT_EQ(put(4), 0);
  EXPECT_TRUE(has(4));
  EXPECT_EQ(del(5), 1);
  EXPECT_FALSE(has(5));
  EXPECT_EQ(root().deltas, 4);
  EXPECT_EQ(scanned(), kDeltasUsual);
  EXPECT_EQ(tree_.check(), 0);
}

TEST_F(TreeTest, DeletionsMergePagesOfAllLevels) {
  constexpr uint64_t kPairs = 15'000;
  const uint64_t bytes_empty = environment_.bytes();
  for (uint64_t i = 0; i < kPairs; ++i) ASSERT_EQ(put(i), 1);
  EXPECT_GE(root().level, 2);
  EXPECT_EQ(tree_.check(), 0);
  EXPECT_EQ(scanned(), kPairs);
  const uint64_t pages_full = pages();
  for (uint64_t i = 0; i < kPairs; ++i) {
    ASSERT_EQ(del(i), 1);
    if (i % 1000 == 0) {
      ASSERT_EQ(tree_.check(), 0);
    }
  }
  EXPECT_EQ(tree_.check(), 0);
  EXPECT_EQ(scanned(), 0u);
  EXPECT_GT(pages_full, 250u);
  EXPECT_LE(pages(), root().level + 1u);  // one page of each level
  // A small page of each level, whose slot may be alone in its group.
  EXPECT_LT(environment_.bytes(), bytes_empty + (1200 + kSlotGroup) * (root().level + 1u));
}

// While another thread is between steps 1 and 2 of a merge (merge.cc), a page is marked as removed.
// Reads must still find its pairs.
TEST_F(TreeTest, ReadsPassAFrozenPage) {
  for (uint64_t i = 0; i < 1000; ++i) put(i);
  Slot* const left = child(3);
  Slot* const right = child(4);
  const Removed mark{{Kind::kRemoved, 0, 0, 0}, left, right->page.load()};
  right->page.store(&mark);
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(has(i)) << i;
  EXPECT_EQ(scanned(), 1000u);
  EXPECT_NE(tree_.check(), 0) << "no merge is running";
  right->page.store(mark.frozen);
  EXPECT_EQ(tree_.check(), 0);
}

// After step 2 of a merge, a page to the left has the pairs of the removed page. Reads must find
// them there, because the contents of the removed page are out of date. If the page to the left was
// split before step 2, its upper half has the pairs.
TEST_F(TreeTest, ReadsPassAnAbsorbedPage) {
  for (uint64_t i = 0; i < 1000; ++i) put(i);
  Slot* const left = child(3);
  Slot* const right = child(4);
  const Page* const left_before = left->page.load();
  const Page* const frozen = right->page.load();
  const uint64_t gone = load_big(base_of(*frozen).pair(5).key.data());
  Entries entries;
  entries.add_all(*left_before);
  const uint32_t middle = entries.count / 2;
  const uint32_t at = entries.count + 5;
  entries.add_all(*frozen);
  entries.erase(at);
  const Builder build(*environment_.get());
  const Removed mark{{Kind::kRemoved, 0, 0, 0}, left, frozen};
  right->page.store(&mark);
  const auto expect_right_reads = [&](const Base* now) {
    left->page.store(now);
    for (uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(has(i), i != gone) << i;
    EXPECT_EQ(scanned(), 999u);
    build.drop(now);
  };
  const End end = End::of(base_of(*frozen));
  expect_right_reads(build.base(0, entries, 0, entries.count, end));
  Slot upper{build.base(0, entries, middle, entries.count, end)};
  expect_right_reads(build.base(0, entries, 0, middle, {entries.pairs[middle], true, &upper}));
  build.drop(upper.page.load());
  left->page.store(left_before);
  right->page.store(frozen);
  EXPECT_EQ(tree_.check(), 0);
}

// Lets 0 to 5 allocations of a deletion succeed before memory runs out, so a merge stops at each of
// its steps. It leaves nothing half done, so later deletions that have memory can merge all pages.
TEST_F(TreeTest, AMergeThatGetsNoMemoryChangesNothing) {
  constexpr uint64_t kPairs = 1000;
  uint64_t interrupted = 0;
  for (int successes = 0; successes < 6; ++successes) {
    for (uint64_t i = 0; i < kPairs; ++i) put(i);
    for (uint64_t i = 0; i < kPairs; ++i) {
      environment_.forget_failure();
      environment_.fail_after(successes);
      int deleted = del(i);
      environment_.fail_after(-1);
      if (environment_.failed()) ++interrupted;
      if (deleted < 0) deleted = del(i);
      ASSERT_EQ(deleted, 1);
      ASSERT_EQ(tree_.check(), 0) << i;
      ASSERT_FALSE(has(i));
      ASSERT_EQ(has(i + 1), i + 1 < kPairs);
    }
    EXPECT_EQ(scanned(), 0u);
    for (uint64_t i = 0; i < kPairs; ++i) put(i);
    for (uint64_t i = 0; i < kPairs; ++i) del(i);
    EXPECT_LE(pages(), root().level + 1u);
  }
  EXPECT_GT(interrupted, 100u);
}

// A leaf that has no entry in its parent is found by the link of its neighbour.
TEST_F(TreeTest, ASplitThatGetsNoMemoryForTheParentLosesNothing) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < 5000; ++i) {
    if (i > 500) environment_.fail_after(static_cast<int>(hash_mix(i, 7) % 6));
    if (put(i) == 1) ++kept;
    environment_.fail_after(-1);
  }
  EXPECT_EQ(tree_.check(), 0);
  EXPECT_EQ(scanned(), kept);
  ASSERT_EQ(root().level, 1);
  EXPECT_LT(root().count + 1, pages()) << "each leaf has an entry, so the test tests nothing";
}

// An environment that makes another call of the tree during an allocation. The effect is that of a
// second thread that runs while the first one waits for memory.
class Interrupting {
 public:
  const KeydromeEnvironment* get() const { return &environment_; }
  // Lets `allocations` allocations pass, and then calls `work` during the next one.
  void interrupt_after(int allocations, std::function<void()> work) {
    left_ = allocations;
    work_ = std::move(work);
  }

 private:
  static void* allocate(void* context, size_t size, size_t alignment) {
    auto& self = *static_cast<Interrupting*>(context);
    if (self.work_ != nullptr && self.left_-- == 0) std::exchange(self.work_, nullptr)();
    const size_t rounded = std::max(alignment, size_t{16});
    return std::aligned_alloc(rounded, (size + rounded - 1) / rounded * rounded);
  }
  static void retire(void* context, void* memory, size_t, size_t) {
    static_cast<Interrupting*>(context)->retired_.emplace_back(memory, std::free);
  }

  std::vector<std::unique_ptr<void, void (*)(void*)>> retired_;  // another call may still read it
  int left_ = 0;
  std::function<void()> work_;
  const KeydromeEnvironment environment_{sizeof environment_, 0, this, allocate, retire};
};

class InterruptedTree {
 public:
  ~InterruptedTree() {
    EXPECT_EQ(tree_.check(), 0);
    for (uint64_t i = 0; i < kNumbers; ++i) EXPECT_EQ(del(i), model_.count(i)) << i;
  }

  // During the given allocation of the call, inserts `other`, too.
  int put_interrupted(uint64_t number, int allocations, uint64_t other) {
    environment_.interrupt_after(allocations, [this, other] { put_unless_frozen(other); });
    const int result = put(number);
    environment_.interrupt_after(0, nullptr);
    return result;
  }
  int del_interrupted(uint64_t number, int allocations, uint64_t other) {
    environment_.interrupt_after(allocations, [this, other] { put_unless_frozen(other); });
    const int result = del(number);
    environment_.interrupt_after(0, nullptr);
    return result;
  }
  int put(uint64_t number) {
    model_.insert(number);
    const std::string bytes = big_endian(number, 8);
    return tree_.put(bytes_of(bytes), bytes_of(bytes));
  }
  uint32_t interruptions() const { return interruptions_; }

 private:
  static constexpr uint64_t kNumbers = 4000;

  int del(uint64_t number) {
    model_.erase(number);
    const std::string bytes = big_endian(number, 8);
    return tree_.del(bytes_of(bytes), bytes_of(bytes));
  }
  // A change of a frozen page would wait for the call that it interrupts.
  void put_unless_frozen(uint64_t number) {
    const Page& root = *tree_.root().page.load();
    const std::string key = big_endian(number, 8);
    if (root.level == 1) {
      const uint32_t index = child_index(base(root), {key, key});
      if (base(root).children()[index]->page.load()->is_removed()) return;
    }
    ++interruptions_;
    EXPECT_EQ(put(number), 1);
  }

  Interrupting environment_;
  const KeydromeSetup setup_{sizeof(KeydromeSetup), 8, nullptr};
  Tree tree_{*environment_.get(), setup_};
  std::set<uint64_t> model_;
  uint32_t interruptions_ = 0;
};

TEST(InterruptedTree, LosesNoPairInASplit) {
  uint32_t interruptions = 0;
  for (int allocations = 0; allocations < 8; ++allocations) {
    InterruptedTree tree;
    for (uint64_t i = 0; i < 300; ++i) {
      EXPECT_EQ(tree.put_interrupted(10 * i, allocations, 10 * i + 5), 1);
    }
    interruptions += tree.interruptions();
  }
  EXPECT_GT(interruptions, 350u);
}

// Deletes the pairs of some leaves. Each deletion is interrupted by an insertion into the same
// leaf, or into a leaf to the right of it.
TEST(InterruptedTree, LosesNoPairInAMerge) {
  uint32_t interruptions = 0;
  for (const uint64_t distance : {5u, 485u, 965u}) {
    for (int allocations = 0; allocations < 8; ++allocations) {
      InterruptedTree tree;
      for (uint64_t i = 0; i < 300; ++i) tree.put(10 * i);
      for (uint64_t i = 30; i < 200; ++i) {
        EXPECT_EQ(tree.del_interrupted(10 * i, allocations, 10 * i + distance), 1);
      }
      interruptions += tree.interruptions();
    }
  }
  EXPECT_GT(interruptions, 500u);
}

TEST_F(TreeTest, KeysWithACommonPrefixNeedOnlyTheRestInTheirHeads) {
  const std::string prefix(120, 'k');
  for (uint64_t i = 0; i < 90; ++i) {
    const std::string key = prefix + big_endian(i, 8);
    ASSERT_EQ(tree_.put(bytes_of(key), kNoPayload), 1);
  }
  EXPECT_GE(base_of(root()).prefix, 120);
  for (const std::string& other :
       {std::string(120, 'k'), std::string(128, 'j'), std::string("l")}) {
    EXPECT_EQ(tree_.del(bytes_of(other), kNoPayload), 0);
  }
  EXPECT_EQ(scanned(), 90u);
}

// Sets a place to a wrong value, and then to the right one again.
template <class Place, class Value>
void expect_damage(const Tree& tree, const char* what, Place& place, Value wrong) {
  const Place right = place;
  place = static_cast<Place>(wrong);
  EXPECT_NE(tree.check(), 0) << what;
  place = right;
  EXPECT_EQ(tree.check(), 0) << what;
}

TEST_F(TreeTest, CheckSeesDamage) {
  for (uint64_t i = 0; i < 1000; ++i) put(i);
  const auto last_page = [&] { return child(root().count - 1)->page.load(); };
  for (uint64_t i = 1000; last_page()->kind != Kind::kInsert; ++i) put(i);
  ASSERT_EQ(tree_.check(), 0);
  const Page* first_page = child(0)->page.load();
  auto& leaf = const_cast<Base&>(base_of(*first_page));
  expect_damage(tree_, "a level", leaf.level, 1);
  expect_damage(tree_, "a key", const_cast<char&>(leaf.number(3)[7]), 9);
  expect_damage(tree_, "the head of the bound", leaf.high_head, leaf.high_head + 1);
  expect_damage(tree_, "a missing link", leaf.right, nullptr);
  expect_damage(tree_, "a link past a page", leaf.right, child(2));
  auto& parent = const_cast<Base&>(base(root()));
  expect_damage(tree_, "a wrong child", const_cast<Slot*&>(parent.children()[1]), child(2));
  expect_damage(tree_, "an unused head", const_cast<uint64_t&>(parent.heads()[parent.count]), 7);
  auto& newest = const_cast<Delta&>(delta(*last_page()));
  expect_damage(tree_, "a count", newest.count, newest.count + 1);
  expect_damage(tree_, "a number of deltas", newest.deltas, newest.deltas + 1);
  expect_damage(tree_, "the head of a delta", newest.head, 0);
  expect_damage(tree_, "the base of a delta", newest.base, &parent);
}

TEST_F(TreeTest, CheckSeesDamageOfTexts) {
  for (uint64_t i = 0; i < 20; ++i) {
    const std::string key = "a text " + std::to_string(100 + i);
    ASSERT_EQ(tree_.put(bytes_of(key), kNoPayload), 1);
  }
  auto& leaf = const_cast<Base&>(base_of(root()));
  ASSERT_FALSE(leaf.has_numbers);
  expect_damage(tree_, "a head", const_cast<uint64_t&>(leaf.heads()[3]), uint64_t{7});
  expect_damage(tree_, "an order", const_cast<uint16_t&>(leaf.offsets()[3]), leaf.offsets()[2]);
  expect_damage(tree_, "the prefix", leaf.prefix, leaf.prefix + 1);
}

}  // namespace
}  // namespace keydrome::bwtree
