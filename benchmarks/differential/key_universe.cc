// Implements the choice of keys: boundary values, keys that share a half or a prefix, and numbered
// keys for large rounds.
#include "benchmarks/differential/key_universe.h"

#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace keydrome::differential {
namespace {

constexpr uint64_t kAdjacent = 16;

template <typename Int>
int64_t random_integer(workload::Rng& rng) {
  using Limits = std::numeric_limits<Int>;
  constexpr std::array<int64_t, 8> kBoundaries = {Limits::min(),     Limits::min() + 1, -1, 0, 1,
                                                  Limits::max() - 1, Limits::max(),     256};
  // Values that are equal in their low or high half, or are near the limits of a smaller type.
  constexpr int64_t kHalf = int64_t{1} << (sizeof(Int) * 4);
  constexpr std::array<int64_t, 8> kHalves = {kHalf,      -kHalf,    kHalf + 1, kHalf - 1,
                                              -1 - kHalf, 1 - kHalf, kHalf / 2, -(kHalf / 2) - 1};
  switch (rng.below(4)) {
    case 0:
      return kBoundaries[rng.below(kBoundaries.size())];
    case 1:
      return kHalves[rng.below(kHalves.size())];
    case 2:
      return static_cast<int64_t>(rng.below(kAdjacent)) - 4;
    default:
      return static_cast<Int>(rng.next());
  }
}

std::string random_string(workload::Rng& rng) {
  constexpr std::array<std::size_t, 8> kPrefixes = {0, 0, 0, 1, 7, 64, 126, 127};
  std::string key(kPrefixes[rng.below(kPrefixes.size())], 'p');
  const std::size_t room = MAX_VARCHAR_LEN - key.size();
  const std::size_t more = std::min<std::size_t>(rng.below(4), room);
  for (std::size_t i = 0; i < more; ++i) {
    constexpr std::array<char, 10> kLetters = {'\x01', ' ',    'a',    'b',    'p',
                                               'q',    '\x7f', '\x80', '\xc3', '\xff'};
    key += kLetters[rng.below(kLetters.size())];
  }
  return key;
}

KeyValue random_key(KeyType type, workload::Rng& rng) {
  if (type == VARCHAR) return {.number = 0, .text = random_string(rng)};
  return {.number = type == SHORT ? random_integer<int32_t>(rng) : random_integer<int64_t>(rng),
          .text = {}};
}

// Returns a key far from the random keys, for rounds that need more keys than random_key()
// provides.
KeyValue count_key(KeyType type, uint64_t number) {
  constexpr int64_t kFirst = 100'000;
  if (type == VARCHAR) return {.number = 0, .text = "k" + std::to_string(kFirst + number)};
  return {.number = kFirst + static_cast<int64_t>(number), .text = {}};
}

}  // namespace

std::vector<KeyValue> random_keys(KeyType type, std::size_t count, workload::Rng& rng) {
  std::set<std::pair<int64_t, std::string>> known;
  std::vector<KeyValue> keys;
  for (uint64_t attempts = 0; keys.size() < count; ++attempts) {
    KeyValue key = attempts < 2 * count ? random_key(type, rng) : count_key(type, attempts);
    if (known.emplace(key.number, key.text).second) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace keydrome::differential
