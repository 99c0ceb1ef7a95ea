#include "benchmarks/keysets/texts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace keydrome::keysets {
namespace {

// The numbers of texts by their hashes, in a table of which at least half is empty. A place holds
// what is left of the hash too, in the bits that numbers leave, so that few texts are looked at
// which are not the same: each look is a cache miss.
class TextNumbers {
 public:
  explicit TextNumbers(uint32_t count)
      : places_(std::bit_ceil(2 * std::size_t{count})),
        number_bits_(static_cast<uint32_t>(std::bit_width(count))) {}

  static uint64_t hash(std::string_view text) { return std::hash<std::string_view>{}(text); }
  void prefetch(uint64_t hash) const { __builtin_prefetch(&places_[first(hash)], 1); }

  // Whether `text` is none of `texts`; if so, it has to become the next of them.
  bool add(std::string_view text, uint64_t hash, const Strings& texts) {
    const auto rest = static_cast<uint32_t>(hash >> 32) >> number_bits_ << number_bits_;
    std::size_t at = first(hash);
    for (; places_[at] != 0; at = (at + 1) & (places_.size() - 1)) {
      const uint32_t number = places_[at] ^ rest;
      if (number >> number_bits_ == 0 && texts[number - 1] == text) return false;
    }
    places_[at] = rest | static_cast<uint32_t>(texts.size() + 1);
    return true;
  }

 private:
  std::size_t first(uint64_t hash) const { return hash & (places_.size() - 1); }

  std::vector<uint32_t> places_;  // number + 1 below the rest of the hash; 0: empty
  uint32_t number_bits_;
};

struct Drawn {
  std::string text;
  std::size_t stem = 0;
  uint64_t hash = 0;
};

// As many as are on their way from memory at once.
constexpr std::size_t kDrawnAtOnce = 16;

}  // namespace

Strings distinct_texts(uint32_t count, std::size_t length_max, const TextSource& source, Rng& rng) {
  Strings texts;
  texts.reserve(count, count * length_max);  // of addresses; memory is taken when it is written
  TextNumbers numbers(count);
  const auto draw_tail = [&](Drawn& drawn) {
    drawn.text.resize(drawn.stem);
    source.tail(rng, drawn.text);
    drawn.text.resize(std::min(drawn.text.size(), length_max));
    drawn.hash = TextNumbers::hash(drawn.text);
    numbers.prefetch(drawn.hash);
  };
  std::array<Drawn, kDrawnAtOnce> room;
  while (texts.size() < count) {
    const std::span batch = std::span(room).first(std::min(room.size(), count - texts.size()));
    for (Drawn& drawn : batch) {
      drawn.text.clear();
      source.stem(rng, drawn.text);
      drawn.stem = drawn.text.size();
      KEYDROME_CHECK(drawn.stem < length_max);
      draw_tail(drawn);
    }
    for (Drawn& drawn : batch) {
      while (!numbers.add(drawn.text, drawn.hash, texts)) draw_tail(drawn);
      texts.add(drawn.text);
    }
  }
  return texts;
}

}  // namespace keydrome::keysets
