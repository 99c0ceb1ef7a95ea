// Implements the choice of keys for the benchmark "isolation": boundary values, clusters of
// adjacent positive integers, and strings of letters with long common prefixes.
#include "benchmarks/isolation/key_universe.h"

#include <array>
#include <limits>
#include <set>
#include <string>

namespace keydrome::isolation {
namespace {

// The width of a cluster of integer keys. Clusters are far apart; the adjacent keys of one cluster
// share nodes and gaps of the index.
constexpr uint64_t kClusterWidth = 64;

template <typename Int>
Int random_integer(workload::Rng& rng) {
  using Limits = std::numeric_limits<Int>;
  constexpr std::array<Int, 6> kBoundaries = {1, 2, 255, 256, Limits::max() - 1, Limits::max()};
  if (rng.below(8) == 0) return kBoundaries[rng.below(kBoundaries.size())];
  const int64_t cluster = rng.between(0, 2) * (Limits::max() / 3);
  return static_cast<Int>(1 + cluster + static_cast<int64_t>(rng.below(kClusterWidth)));
}

// Returns a number in decimal, with the letters "a" to "j" as digits.
std::string letters_of(std::size_t number) {
  std::string text = std::to_string(number);
  for (char& digit : text) digit = static_cast<char>(digit - '0' + 'a');
  return text;
}

std::string random_string(workload::Rng& rng) {
  constexpr std::array<std::size_t, 6> kPrefixLengths = {0, 0, 1, 7, 60, 120};
  std::string key(kPrefixLengths[rng.below(kPrefixLengths.size())], 'p');
  const std::size_t more = rng.below(8);
  for (std::size_t i = 0; i < more; ++i) {
    constexpr std::array<char, 6> kLetters = {'A', '_', 'a', 'b', 'p', 'z'};
    key += kLetters[rng.below(kLetters.size())];
  }
  return key;
}

// Returns `count` different values of `random`. After more than four attempts per value, `widen`
// also changes the values, so that a small range cannot cause an endless loop.
template <typename Value, typename Random, typename Widen>
std::set<Value> distinct(std::size_t count, Random random, Widen widen) {
  std::set<Value> values;
  for (std::size_t attempts = 0; values.size() < count; ++attempts) {
    Value value = random();
    if (attempts > 4 * count) value = widen(value, attempts);
    values.insert(std::move(value));
  }
  return values;
}

}  // namespace

std::vector<uint32_t> add_keys(script::ScriptBuilder& script, KeyType type, std::size_t count,
                               workload::Rng& rng) {
  std::vector<uint32_t> numbers;
  numbers.reserve(count);
  const auto widen = [](int64_t value, std::size_t attempts) {
    return value / 2 + static_cast<int64_t>(attempts);
  };
  if (type == SHORT) {
    const auto keys = distinct<int32_t>(
        count, [&] { return random_integer<int32_t>(rng); },
        [&](int32_t v, std::size_t n) { return static_cast<int32_t>(widen(v, n)); });
    for (const int32_t key : keys) numbers.push_back(script.add_int32_key(key));
  } else if (type == INT) {
    const auto keys = distinct<int64_t>(count, [&] { return random_integer<int64_t>(rng); }, widen);
    for (const int64_t key : keys) numbers.push_back(script.add_int64_key(key));
  } else {
    // std::string compares unsigned bytes and puts a prefix before the longer string, as the
    // contract (the specification of the API) demands.
    const auto keys = distinct<std::string>(
        count, [&] { return random_string(rng); },
        [](const std::string& key, std::size_t n) {
          return key.substr(0, MAX_VARCHAR_LEN - 16) + letters_of(n);
        });
    for (const std::string& key : keys) numbers.push_back(script.add_varchar_key(key));
  }
  return numbers;
}

}  // namespace keydrome::isolation
