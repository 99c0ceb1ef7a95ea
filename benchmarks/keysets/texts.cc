// Implements distinct_texts(), which generates different random texts, with a hash table of all
// texts so far. Works in batches that prefetch their table slots.
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

// A hash table that maps texts to their numbers. It is at most half full. The bits of a table slot
// that the number does not need store further bits of the hash. If these bits differ, the texts
// differ too, and need not be compared. A comparison would be a cache miss.
class TextNumbers {
 public:
  explicit TextNumbers(uint32_t count)
      : slots_(std::bit_ceil(2 * std::size_t{count})),
        number_bits_(static_cast<uint32_t>(std::bit_width(count))) {}

  static uint64_t hash(std::string_view text) { return std::hash<std::string_view>{}(text); }
  [[gnu::always_inline]] void prefetch(uint64_t hash) const {
    __builtin_prefetch(&slots_[first(hash)], 1);
  }

  // Adds `text` if it is new, and returns whether it is. The caller must then append it to `texts`.
  bool add(std::string_view text, uint64_t hash, const script::Strings& texts) {
    const auto rest = static_cast<uint32_t>(hash >> 32 >> number_bits_ << number_bits_);
    std::size_t at = first(hash);
    for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
      const uint32_t number = slots_[at] ^ rest;
      if (uint64_t{number} >> number_bits_ == 0 && texts[number - 1] == text) return false;
    }
    slots_[at] = rest | static_cast<uint32_t>(texts.size() + 1);
    return true;
  }

 private:
  std::size_t first(uint64_t hash) const { return hash & (slots_.size() - 1); }

  std::vector<uint32_t> slots_;  // low bits: number + 1; high bits: rest of the hash; 0: empty
  uint32_t number_bits_;
};

struct Candidate {
  std::string text;
  std::size_t stem = 0;
  uint64_t hash = 0;
};

// The number of table slots that are prefetched at the same time.
constexpr std::size_t kBatch = 16;

}  // namespace

script::Strings distinct_texts(uint32_t count, std::size_t length_max, const TextSource& source,
                               workload::Rng& rng) {
  script::Strings texts;
  // Reserves only addresses. The system allocates the memory when it is first written.
  texts.reserve(count, count * length_max);
  TextNumbers numbers(count);
  const auto choose_tail = [&](Candidate& candidate) {
    candidate.text.resize(candidate.stem);
    source.tail(rng, candidate.text);
    candidate.text.resize(std::min(candidate.text.size(), length_max));
    candidate.hash = TextNumbers::hash(candidate.text);
    numbers.prefetch(candidate.hash);
  };
  std::array<Candidate, kBatch> room;
  while (texts.size() < count) {
    const std::span batch = std::span(room).first(std::min(room.size(), count - texts.size()));
    for (Candidate& candidate : batch) {
      candidate.text.clear();
      source.stem(rng, candidate.text);
      candidate.stem = candidate.text.size();
      KEYDROME_CHECK(candidate.stem < length_max);
      choose_tail(candidate);
    }
    for (Candidate& candidate : batch) {
      while (!numbers.add(candidate.text, candidate.hash, texts)) choose_tail(candidate);
      texts.add(candidate.text);
    }
  }
  return texts;
}

}  // namespace keydrome::keysets
