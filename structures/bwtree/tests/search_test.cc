// Tests searches in pages, guesses where a key is (guess.h), groups of slots (slots.h), and leaves
// that change between pages of numbers and pages of records (page.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "structures/bwtree/search.h"
#include "structures/bwtree/tree.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::bwtree {
namespace {

// A page with numbers as keys, and as payloads if it is a leaf.
class NumberPage {
 public:
  NumberPage(uint32_t level, const std::vector<uint64_t>& numbers, std::optional<uint64_t> high)
      : build_(*environment_.get()) {
    for (const uint64_t number : numbers) bytes_.push_back(big_endian(number, 8));
    if (high) high_ = big_endian(*high, 8);
    Entries entries;
    for (const std::string& one : bytes_) {
      entries.insert(entries.count, {one, level == 0 ? one : std::string_view()}, nullptr);
    }
    const End end{{high_, {}}, high.has_value(), nullptr};
    base_ = build_.base(level, entries, 0, entries.count, end);
  }
  ~NumberPage() { build_.drop(base_); }
  NumberPage(const NumberPage&) = delete;
  NumberPage& operator=(const NumberPage&) = delete;

  const Base& base() const { return *base_; }

 private:
  WatchedEnvironment environment_;
  Builder build_;
  std::vector<std::string> bytes_;
  std::string high_;
  const Base* base_;
};

// Returns ascending numbers: evenly spread, next to each other, or mostly small.
std::vector<uint64_t> numbers_of(uint32_t shape, uint32_t count) {
  std::mt19937_64 random(count);
  std::set<uint64_t> numbers;
  while (numbers.size() < count) {
    const uint64_t number = random();
    numbers.insert(shape == 0   ? number
                   : shape == 1 ? 1000 + numbers.size()
                                : number >> number % 64);
  }
  return {numbers.begin(), numbers.end()};
}

uint32_t number_below(const std::vector<uint64_t>& numbers, uint64_t head) {
  return static_cast<uint32_t>(std::lower_bound(numbers.begin(), numbers.end(), head) -
                               numbers.begin());
}

TEST(Search, AWrongGuessDoesNotChangeTheResult) {
  for (uint32_t shape = 0; shape < 3; ++shape) {
    for (uint32_t count = 1; count <= kPairsMax; ++count) {
      const std::vector<uint64_t> numbers = numbers_of(shape, count);
      const NumberPage page(0, numbers, std::nullopt);
      ASSERT_TRUE(page.base().has_numbers);
      for (const uint64_t number : numbers) {
        for (const uint64_t head : {number - 1, number, number + 1}) {
          for (uint32_t share = 0; share <= kShares; share += kShares / 8) {
            ASSERT_EQ(numbers_below(page.base(), head, share), number_below(numbers, head));
          }
        }
      }
    }
  }
}

TEST(Search, InnerPagesOfAllSizesFindTheChild) {
  for (uint32_t shape = 0; shape < 3; ++shape) {
    for (uint32_t count = 1; count <= kPairsMax; ++count) {
      std::vector<uint64_t> numbers = numbers_of(shape, count + 1);
      const uint64_t high = numbers.back();
      numbers.pop_back();
      const NumberPage last(1, numbers, std::nullopt);
      const NumberPage page(1, numbers, high);
      numbers.push_back(high);
      for (const uint64_t number : numbers) {
        for (const uint64_t head : {number - 1, number}) {
          const std::string key = big_endian(head, 8);
          const Probe probe{key, "payload"};
          const auto above = std::upper_bound(numbers.begin(), numbers.end(), head);
          const auto not_above = static_cast<uint32_t>(above - numbers.begin());
          const uint32_t expected = std::min(not_above == 0 ? 0 : not_above - 1, count - 1);
          ASSERT_EQ(child_index(last.base(), probe), expected);
          if (head < high) {
            ASSERT_EQ(child_index(page.base(), probe), expected);
          }
        }
      }
    }
  }
}

TEST(Search, SharesAreInTheRange) {
  constexpr uint64_t kLast = UINT64_MAX;
  EXPECT_EQ(share_of(0, 0, kLast), 0u);
  EXPECT_EQ(share_of(0, kLast / 2, kLast), kShares / 2);
  EXPECT_EQ(share_of(100, 150, 200), kShares * 25 / 51);
  for (const uint64_t low : {uint64_t{0}, uint64_t{7}, kLast / 2, kLast}) {
    for (const uint64_t head : {uint64_t{0}, uint64_t{8}, kLast / 2, kLast}) {
      for (const uint64_t high : {uint64_t{0}, uint64_t{9}, kLast / 2, kLast}) {
        EXPECT_LE(share_of(low, head, high), kShares) << low << " " << head << " " << high;
      }
    }
  }
}

TEST(Slots, GroupsAreRetiredAfterTheirSlots) {
  WatchedEnvironment environment;
  const NumberPage page(0, {1}, std::nullopt);
  Builder build(*environment.get());
  std::vector<Slot*> slots;
  for (uint32_t i = 0; i < 1000; ++i) slots.push_back(build.slot(&page.base()));
  EXPECT_EQ(environment.bytes(), 4 * kSlotGroup);
  for (Slot* slot : slots) EXPECT_EQ(slot->page.load(), &page.base());
  for (Slot* slot : slots) build.drop(slot);
  EXPECT_EQ(environment.bytes(), kSlotGroup);  // new slots come from the last group
}

TEST(Slots, ASlotThatIsUndoneLeavesNoMemory) {
  WatchedEnvironment environment;
  const NumberPage page(0, {1}, std::nullopt);
  Builder build(*environment.get());
  for (uint32_t i = 0; i < 1000; ++i) {
    Slot* const one = build.slot(&page.base());
    Slot* const two = build.slot(&page.base());
    EXPECT_NE(one, two);
    build.undo(two);
    build.undo(one);
    EXPECT_EQ(environment.bytes(), 0u);
  }
  Slot* const kept = build.slot(&page.base());
  build.undo(build.slot(&page.base()));
  environment.fail_after(0);
  Slot* const other = build.slot(&page.base());
  ASSERT_NE(other, nullptr) << "the group has room";
  environment.fail_after(-1);
  EXPECT_EQ(environment.bytes(), kSlotGroup);
  build.drop(kept);
  build.drop(other);
}

// Leaves with keys and payloads of eight bytes are pages of numbers. Other pairs come and go, so
// leaves change to pages of records and back, merge, and run out of memory meanwhile.
class KindsTest : public testing::TestWithParam<uint64_t> {
 protected:
  void change(std::mt19937_64& random, bool only_numbers, bool deletes_more) {
    const std::string key = big_endian(random() % 3000 << random() % 3 * 20, 8);
    const bool is_number = only_numbers || random() % 100 > 0;
    const keydrome::Pair stored{is_number ? key : key + "x",
                                big_endian(random() % 3, is_number || random() % 2 == 0 ? 8 : 4)};
    const bool deletes = random() % 4 < (deletes_more ? 3u : 1u);
    environment_.fail_after(random() % 8 == 0 ? static_cast<int>(random() % 4) : -1);
    const int result =
        deletes ? tree_.del(keydrome::bytes_of(stored.first), keydrome::bytes_of(stored.second))
                : tree_.put(keydrome::bytes_of(stored.first), keydrome::bytes_of(stored.second));
    environment_.fail_after(-1);
    if (result >= 0) {
      const bool has_changed = deletes ? model_.erase(stored) == 1 : model_.insert(stored).second;
      ASSERT_EQ(result, has_changed ? 1 : 0);
    }
    expect_smallest_payload(stored.first);
  }

  void expect_smallest_payload(const std::string& key) {
    char bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer payload{bytes, 0, sizeof bytes};
    const int found = tree_.find(keydrome::bytes_of(key), kNoPayload, payload);
    const auto first = model_.lower_bound({key, ""});
    ASSERT_EQ(found, first != model_.end() && first->first == key ? 1 : 0);
    if (found == 1) {
      ASSERT_EQ(std::string(bytes, payload.size), first->second);
    }
  }

  WatchedEnvironment environment_;
  const KeydromeSetup setup_{sizeof(KeydromeSetup), 0, nullptr};
  Tree tree_{*environment_.get(), setup_};
  Model model_;
};

TEST_P(KindsTest, LeavesChangeTheirKindAndMerge) {
  std::mt19937_64 random(GetParam());
  for (uint32_t phase = 0; phase < 8; ++phase) {
    for (uint32_t i = 0; i < 6000; ++i) {
      change(random, phase % 2 == 0, phase / 2 % 2 == 1);
      if (HasFatalFailure()) FAIL() << "phase " << phase << ", change " << i;
    }
    ASSERT_EQ(tree_.check(), 0) << phase;
    ASSERT_EQ(tree_.statistic(KEYDROME_STATISTIC_SLOTS_USED) > 0, !model_.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, KindsTest, testing::Values(1u, 2u, 3u));

}  // namespace
}  // namespace keydrome::bwtree
