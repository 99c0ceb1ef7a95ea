// Implements the choice of the keys of a round, a part of the random calls. The keys are boundary
// values, and keys that share half of their bytes or a prefix. Rounds with many keys also have
// numbered keys. All keys are positive numbers, or strings of letters and underscores. The
// benchmark "scenarios" also uses other keys (scenarios/data/keys.json).
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
  constexpr std::array<int64_t, 6> kBoundaries = {1, 2, 255, 256, Limits::max() - 1, Limits::max()};
  // Values that are equal in their low or high half, or are near the limits of a smaller type.
  constexpr int64_t kHalf = int64_t{1} << (sizeof(Int) * 4);
  constexpr std::array<int64_t, 6> kHalves = {kHalf,         kHalf + 1, kHalf - 1,
                                              kHalf / 2 - 1, kHalf / 2, 3 * (kHalf / 4)};
  switch (rng.below(4)) {
    case 0:
      return kBoundaries[rng.below(kBoundaries.size())];
    case 1:
      return kHalves[rng.below(kHalves.size())];
    case 2:
      return 1 + static_cast<int64_t>(rng.below(kAdjacent));
    default:
      return 1 + static_cast<int64_t>(rng.next() % static_cast<uint64_t>(Limits::max()));
  }
}

std::string random_string(workload::Rng& rng) {
  constexpr std::array<std::size_t, 8> kPrefixes = {0, 0, 0, 1, 7, 64, 126, 127};
  std::string key(kPrefixes[rng.below(kPrefixes.size())], 'p');
  const std::size_t room = MAX_VARCHAR_LEN - key.size();
  const std::size_t more = std::min<std::size_t>(rng.below(4), room);
  for (std::size_t i = 0; i < more; ++i) {
    constexpr std::array<char, 8> kLetters = {'A', 'Z', '_', 'a', 'b', 'p', 'q', 'z'};
    key += kLetters[rng.below(kLetters.size())];
  }
  return key;
}

KeyValue random_key(KeyType type, workload::Rng& rng) {
  if (type == VARCHAR) return {.number = 0, .text = random_string(rng)};
  return {.number = type == SHORT ? random_integer<int32_t>(rng) : random_integer<int64_t>(rng),
          .text = {}};
}

// Returns a key that random_key() hardly ever returns, for rounds that need more keys than
// random_key() provides.
KeyValue count_key(KeyType type, uint64_t number) {
  constexpr int64_t kFirst = 100'000;
  if (type == VARCHAR) {
    std::string text = "k" + std::to_string(kFirst + number);
    for (std::size_t i = 1; i < text.size(); ++i) text[i] = static_cast<char>(text[i] - '0' + 'a');
    return {.number = 0, .text = std::move(text)};
  }
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
