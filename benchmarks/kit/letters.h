// Random texts of keys and payloads, drawn alike by timed benchmarks and by recorded rounds: a
// library that could tell the two apart by what it is given could be right only while it is
// watched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "benchmarks/kit/rng.h"

namespace keydrome {

inline constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

inline std::string draw_letters(Rng& rng, uint64_t length) {
  std::string text(length, ' ');
  for (char& letter : text) letter = kLetters[rng.below(kLetters.size())];
  return text;
}

}  // namespace keydrome
