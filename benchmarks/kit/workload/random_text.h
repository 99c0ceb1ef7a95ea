// Generates random texts for the keys and payloads of workloads.
//
// In a recorded run, every call is judged. Timed and recorded runs use the same characters,
// kLetters. Otherwise a library could recognise a recorded run by its texts and behave correctly
// only in recorded runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::workload {

// A set of 2 to 128 characters. In random texts, each character is equally likely.
//
// One random number gives eight characters, two at a time. The random number is multiplied by the
// number of pairs. The upper half of the product selects a pair, and the lower half serves as the
// random number for the next pair. If the lower half of the fourth product is so small that the
// choice could be biased, all eight characters are chosen again (N. Brackett-Rozinsky and D.
// Lemire, 2024). This method takes about 0.8 ns per character; one random number per character
// would take 2 ns.
//
// Thread safety: immutable. The text that a given Rng produces must never change, because a change
// would alter the operations of every benchmark (rng.h).
class Alphabet {
 public:
  explicit Alphabet(std::string_view characters) {
    KEYDROME_CHECK(characters.size() > 1 && characters.size() <= 128);
    for (const char second : characters) {
      for (const char first : characters) {
        pairs_.push_back(
            static_cast<uint16_t>(static_cast<uint8_t>(second) << 8 | static_cast<uint8_t>(first)));
      }
    }
  }

  // Appends `length` characters to `text`. For each eight characters, uses one number of `rng`, and
  // rarely a second one.
  void append(Rng& rng, std::size_t length, std::string& text) const {
    const std::size_t from = text.size();
    text.resize(from + length + sizeof(uint64_t));
    for (std::size_t at = from; at < from + length; at += sizeof(uint64_t)) {
      const uint64_t eight = draw(rng);
      std::memcpy(text.data() + at, &eight, sizeof eight);
    }
    text.resize(from + length);
  }

  std::string text(Rng& rng, std::size_t length) const {
    std::string text;
    append(rng, length, text);
    return text;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  // Returns eight random characters.
  uint64_t draw(Rng& rng) const {
    const uint64_t count = pairs_.size(), all = count * count * count * count;
    uint64_t eight = 0, left = 0;
    do {
      left = rng.next();
      eight = pair(left);
      eight |= pair(left) << 16;
      eight |= pair(left) << 32;
      eight |= pair(left) << 48;
    } while (left < all && left < (0 - all) % all);
    return eight;
  }

  // Returns two random characters and replaces `left` with the random number for the next pair.
  uint64_t pair(uint64_t& left) const {
    const Wide product = static_cast<Wide>(left) * pairs_.size();
    left = static_cast<uint64_t>(product);
    return pairs_[static_cast<std::size_t>(product >> 64)];
  }

  std::vector<uint16_t> pairs_;  // two characters, the first one in the low byte
};

inline constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

inline const Alphabet& letters() {
  static const Alphabet alphabet(kLetters);
  return alphabet;
}

}  // namespace keydrome::workload
