// Tests contract A (keydrome/index.h) with keys and payloads at their limits. Also tests the order
// of keys, the names of indexes, and the ownership of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "indexes/tests/library.h"

namespace keydrome {
namespace {

// Inserts the ascending `keys` in random order. A scan must return the keys in ascending order, and
// get must find each key.
void check_order(KeyType type, std::vector<KeyValue> keys) {
  const Handle index(make_index(type), type);
  std::vector<size_t> order(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 random(test_seed());
  std::shuffle(order.begin(), order.end(), random);
  for (const size_t i : order) {
    ASSERT_EQ(index.insert(nullptr, keys[i], "payload " + std::to_string(i)), SUCCESS);
  }
  Transaction txn;
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(index.next(txn), (Read{SUCCESS, keys[i], "payload " + std::to_string(i)}));
  }
  EXPECT_EQ(index.next(txn).code, DB_END);
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(index.get(txn, keys[i]), (Read{SUCCESS, keys[i], "payload " + std::to_string(i)}));
  }
}

TEST(RequiredValues, ShortKeysAreOrderedAsSignedNumbers) {
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  check_order(SHORT, {kMin, kMin + 1, int64_t{-65536}, int64_t{-256}, int64_t{-255}, int64_t{-1},
                      int64_t{0}, int64_t{1}, int64_t{127}, int64_t{128}, int64_t{255},
                      int64_t{256}, int64_t{65535}, int64_t{65536}, kMax - 1, kMax});
}

TEST(RequiredValues, IntKeysAreOrderedAsSignedNumbers) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kHigh = int64_t{1} << 32;
  check_order(INT,
              {kMin, kMin + 1, -kHigh - 1, -kHigh, -kHigh + 1, int64_t{-1}, int64_t{0}, int64_t{1},
               kHigh / 2 - 1, kHigh / 2, kHigh - 1, kHigh, kHigh + 1, kHigh * 256, kMax - 1, kMax});
}

TEST(RequiredValues, StringKeysAreOrderedAsUnsignedBytes) {
  const std::string longest(MAX_VARCHAR_LEN - 1, 'q');
  check_order(VARCHAR, {std::string(), std::string("\x01"), std::string("!"), std::string("A"),
                        std::string("a"), std::string("a\x01"), std::string("aa"), std::string("b"),
                        std::string(longest, 0, 64), longest, longest + "\x01", longest + "q",
                        longest + "\xff", std::string("z"), std::string("\x7f"),
                        std::string("\x80"), std::string("\xc3\xa4"), std::string("\xff"),
                        std::string(static_cast<size_t>(MAX_VARCHAR_LEN), '\xff')});
}

TEST(RequiredValues, PayloadsComeBackByteForByte) {
  const Handle index(make_index(INT), INT);
  std::vector<std::string> payloads = {"z", std::string(99, 'p'), std::string(100, 'p'),
                                       std::string(99, 'p') + "q"};
  for (int byte = 1; byte < 256; ++byte) {
    payloads.push_back("byte " + std::string(1, static_cast<char>(byte)));
  }
  int64_t key = 0;
  for (const std::string& payload : payloads) {
    ASSERT_EQ(index.insert(nullptr, ++key, payload), SUCCESS);
  }
  key = 0;
  for (const std::string& payload : payloads) {
    ++key;
    EXPECT_EQ(index.get(nullptr, key), (Read{SUCCESS, key, payload}));
    EXPECT_EQ(index.erase(nullptr, key, payload), SUCCESS);
    EXPECT_EQ(index.get(nullptr, key).code, KEY_NOTFOUND);
  }
}

TEST(RequiredValues, PayloadsOfOneKeyThatDifferInTheLastByteAreDistinct) {
  const Handle index(make_index(VARCHAR), VARCHAR);
  const std::string key(static_cast<size_t>(MAX_VARCHAR_LEN), 'k');
  const std::string stem(MAX_PAYLOAD_LEN - 1, 'p');
  EXPECT_EQ(index.insert(nullptr, key, stem), SUCCESS);
  EXPECT_EQ(index.insert(nullptr, key, stem + "a"), SUCCESS);
  EXPECT_EQ(index.insert(nullptr, key, stem + "b"), SUCCESS);
  EXPECT_EQ(index.insert(nullptr, key, stem + "b"), ENTRY_EXISTS);
  EXPECT_EQ(index.erase(nullptr, key, stem + "a"), SUCCESS);
  EXPECT_EQ(index.erase(nullptr, key, stem + "a"), ENTRY_DNE);
  Transaction txn;
  EXPECT_EQ(index.get(txn, key).code, SUCCESS);
  EXPECT_EQ(index.next(txn).code, SUCCESS);
  EXPECT_EQ(index.next(txn).code, DB_END);
}

TEST(RequiredValues, TheSamePairInTwoIndexesIsTwoPairs) {
  const Handle a(make_index(SHORT), SHORT);
  const Handle b(make_index(SHORT), SHORT);
  EXPECT_EQ(a.insert(nullptr, int64_t{1}, "x"), SUCCESS);
  EXPECT_EQ(b.insert(nullptr, int64_t{1}, "x"), SUCCESS);
  EXPECT_EQ(a.erase_all(nullptr, int64_t{1}), SUCCESS);
  EXPECT_EQ(b.get(nullptr, int64_t{1}), (Read{SUCCESS, int64_t{1}, "x"}));
}

TEST(RequiredValues, NamesThatDifferOnlyALittleAreDifferent) {
  std::vector<std::string> names = {
      "Order", "order", "order ", "order/1", "order/2", "../order", std::string(63, 'n')};
  for (std::string& name : names) {
    ASSERT_EQ(library().create(INT, name.data()), SUCCESS) << name;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const Handle index(names[i].c_str(), INT);
    EXPECT_EQ(index.next(nullptr).code, DB_END) << names[i];
    EXPECT_EQ(index.insert(nullptr, static_cast<int64_t>(i), "x"), SUCCESS);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const Handle index(names[i].c_str(), INT);
    EXPECT_EQ(index.next(nullptr).key, KeyValue(static_cast<int64_t>(i))) << names[i];
  }
}

TEST(RequiredValues, FiftyIndexesWorkInOneTransaction) {
  std::vector<const char*> names;
  for (int i = 0; i < 50; ++i) names.push_back(make_index(INT));
  Transaction txn;
  for (const char* name : names) {
    const Handle index(name, INT);
    EXPECT_EQ(index.insert(txn, int64_t{1}, "x"), SUCCESS);
  }
  EXPECT_EQ(txn.commit(), SUCCESS);
  for (const char* name : names) {
    const Handle index(name, INT);
    EXPECT_EQ(index.get(nullptr, int64_t{1}).payload, "x");
  }
}

TEST(AdvisoryValues, TheNameOfAnIndexMayChangeAfterTheCall) {
  std::string name = "a name that does not stay";
  ASSERT_EQ(library().create(INT, name.data()), SUCCESS);
  const std::string kept = name;
  name.assign(name.size(), '#');
  const Handle index(kept.c_str(), INT);
  EXPECT_EQ(index.insert(nullptr, int64_t{1}, "x"), SUCCESS);
}

TEST(AdvisoryValues, LongNamesAreKept) {
  std::string name(1000, 'n');
  ASSERT_EQ(library().create(INT, name.data()), SUCCESS);
  name.back() = 'm';
  ASSERT_EQ(library().create(INT, name.data()), SUCCESS);
  const Handle index(name.c_str(), INT);
  EXPECT_EQ(index.next(nullptr).code, DB_END);
}

}  // namespace
}  // namespace keydrome
