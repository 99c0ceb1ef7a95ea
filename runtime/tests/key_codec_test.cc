// Tests of key_codec.h: encoded keys have the order of the keys, and decoding returns the keys.
#include "runtime/codec/key_codec.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace keydrome::runtime {
namespace {

constexpr uint64_t kSeed = 7;

std::mt19937_64 generator(uint64_t seed) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return std::mt19937_64(seed);
}

Key short_key(int32_t value) {
  Key key{};
  key.type = SHORT;
  key.keyval.shortkey = value;
  return key;
}

Key int_key(int64_t value) {
  Key key{};
  key.type = INT;
  key.keyval.intkey = value;
  return key;
}

Key text_key(const std::string& value) {
  Key key{};
  key.type = VARCHAR;
  value.copy(key.keyval.charkey, MAX_VARCHAR_LEN);
  return key;
}

std::string encoded(const Key& key) {
  std::string code;
  EXPECT_EQ(with_encoded(key, key.type,
                         [&](KeydromeBytes bytes) {
                           code.assign(static_cast<const char*>(bytes.data), bytes.size);
                           return SUCCESS;
                         }),
            SUCCESS);
  return code;
}

// Checks that keys and their encodings have the same order, and that decoding returns each key. The
// encodings are compared as std::string, which has the order of structure.h: byte by byte, and a
// prefix comes first.
template <class Value, class MakeKey>
void expect_order_and_round_trip(const std::vector<Value>& values, MakeKey make_key) {
  for (const Value& a : values) {
    Key back;
    std::memset(&back, 0x55, sizeof back);
    const Key key = make_key(a);
    const std::string code = encoded(key);
    ASSERT_TRUE(decode_key({code.data(), static_cast<uint32_t>(code.size())}, key.type, back));
    EXPECT_EQ(encoded(back), code);
    for (const Value& b : values) EXPECT_EQ(a < b, code < encoded(make_key(b)));
  }
}

template <class Number>
std::vector<Number> numbers() {
  using Limits = std::numeric_limits<Number>;
  std::vector<Number> values = {
      Limits::min(), Limits::min() + 1, -256,         -255, -1, 0, 1, 127, 128, 255,
      256,           Limits::max() - 1, Limits::max()};
  std::mt19937_64 random = generator(kSeed);
  for (int i = 0; i < 200; ++i) values.push_back(static_cast<Number>(random()));
  return values;
}

TEST(KeyCodec, ShortKeysKeepTheirOrder) {
  expect_order_and_round_trip(numbers<int32_t>(), short_key);
}

TEST(KeyCodec, IntKeysKeepTheirOrder) { expect_order_and_round_trip(numbers<int64_t>(), int_key); }

TEST(KeyCodec, StringsKeepTheirOrder) {
  std::vector<std::string> values = {"",
                                     "\x01",
                                     "a",
                                     "a\x01",
                                     "aa",
                                     "ab",
                                     "b",
                                     "\x7F",
                                     "\x80",
                                     "\xFF",
                                     std::string(127, 'x'),
                                     std::string(128, 'x'),
                                     std::string(128, '\xFF')};
  std::mt19937_64 random = generator(kSeed);
  for (int i = 0; i < 200; ++i) {
    std::string value(random() % 129, ' ');
    for (char& byte : value) byte = static_cast<char>(1 + random() % 255);
    values.push_back(value);
  }
  expect_order_and_round_trip(values, text_key);
}

TEST(KeyCodec, RefusesOtherTypesAndEndlessStrings) {
  const auto never = [](KeydromeBytes) {
    ADD_FAILURE();
    return SUCCESS;
  };
  EXPECT_EQ(with_encoded(short_key(1), INT, never), FAILURE);
  EXPECT_EQ(with_encoded(int_key(1), VARCHAR, never), FAILURE);
  Key endless{};
  endless.type = VARCHAR;
  std::memset(endless.keyval.charkey, 'x', sizeof endless.keyval.charkey);
  EXPECT_EQ(with_encoded(endless, VARCHAR, never), FAILURE);
}

TEST(KeyCodec, RefusesBytesOfTheWrongSize) {
  Key key;
  EXPECT_FALSE(decode_key({"1234", 4}, INT, key));
  EXPECT_FALSE(decode_key({"12345678", 8}, SHORT, key));
  const std::string long_text(MAX_VARCHAR_LEN + 1, 'x');
  EXPECT_FALSE(
      decode_key({long_text.data(), static_cast<uint32_t>(long_text.size())}, VARCHAR, key));
}

}  // namespace
}  // namespace keydrome::runtime
