// Random texts of keys and payloads. What timed benchmarks and recorded rounds draw, kLetters, is
// the same: a library that could tell the two apart by what it is given could be right only while
// it is watched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/rng.h"

namespace keydrome {

// Characters of which texts are drawn, each as likely as the others; 2 to 128. Eight come out of
// one random number, two of them at once: what multiplying with a bound leaves over is the random
// number of the next draw, and all are drawn again where the last one leaves too little (N.
// Brackett-Rozinsky and D. Lemire, 2024). About 0.8 ns a character instead of 2.
//
// Immutable, so any thread may use it. Which text a stream draws is fixed for ever, as in rng.h.
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

  // Appends `length` characters. Texts of up to eight take one random number.
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

  uint64_t pair(uint64_t& left) const {
    const Wide product = static_cast<Wide>(left) * pairs_.size();
    left = static_cast<uint64_t>(product);
    return pairs_[static_cast<std::size_t>(product >> 64)];
  }

  std::vector<uint16_t> pairs_;  // the first character lower, where it stands in memory too
};

inline constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

inline const Alphabet& letters() {
  static const Alphabet alphabet(kLetters);
  return alphabet;
}

}  // namespace keydrome
