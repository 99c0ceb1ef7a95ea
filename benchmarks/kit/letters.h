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
  std::string text;
  text.reserve(length);
  for (uint64_t i = 0; i < length; ++i) text += kLetters[rng.below(kLetters.size())];
  return text;
}

}  // namespace keydrome
