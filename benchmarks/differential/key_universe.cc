#include "benchmarks/differential/key_universe.h"

#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace keydrome::differential {
namespace {

constexpr uint64_t kNeighbours = 16;

template <typename Int>
int64_t draw_integer(Rng& rng) {
  using Limits = std::numeric_limits<Int>;
  constexpr std::array<int64_t, 8> kBoundaries = {Limits::min(),     Limits::min() + 1, -1, 0, 1,
                                                  Limits::max() - 1, Limits::max(),     256};
  // Alike in their low or in their high half, or around the end of a smaller type.
  constexpr int64_t kHalf = int64_t{1} << (sizeof(Int) * 4);
  constexpr std::array<int64_t, 8> kHalves = {kHalf,      -kHalf,    kHalf + 1, kHalf - 1,
                                              -1 - kHalf, 1 - kHalf, kHalf / 2, -(kHalf / 2) - 1};
  switch (rng.below(4)) {
    case 0:
      return kBoundaries[rng.below(kBoundaries.size())];
    case 1:
      return kHalves[rng.below(kHalves.size())];
    case 2:
      return static_cast<int64_t>(rng.below(kNeighbours)) - 4;
    default:
      return static_cast<Int>(rng.next());
  }
}

std::string draw_string(Rng& rng) {
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

KeyValue draw_key(KeyType type, Rng& rng) {
  if (type == VARCHAR) return {.number = 0, .text = draw_string(rng)};
  return {.number = type == SHORT ? draw_integer<int32_t>(rng) : draw_integer<int64_t>(rng),
          .text = {}};
}

// Far from the drawn ones, for universes that are larger than those are many.
KeyValue count_key(KeyType type, uint64_t number) {
  constexpr int64_t kFirst = 100'000;
  if (type == VARCHAR) return {.number = 0, .text = "k" + std::to_string(kFirst + number)};
  return {.number = kFirst + static_cast<int64_t>(number), .text = {}};
}

}  // namespace

std::vector<KeyValue> draw_keys(KeyType type, std::size_t count, Rng& rng) {
  std::set<std::pair<int64_t, std::string>> known;
  std::vector<KeyValue> keys;
  for (uint64_t draws = 0; keys.size() < count; ++draws) {
    KeyValue key = draws < 2 * count ? draw_key(type, rng) : count_key(type, draws);
    if (known.emplace(key.number, key.text).second) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace keydrome::differential
