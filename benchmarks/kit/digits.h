// Numbers in keys: eight hexadecimal digits. Numbers in payloads: digits of base 94, the printable
// characters from '!' on, most significant first, in a field of fixed width. Text in the same
// payload stays text; every value of a field has the same length. Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keydrome {

// Eight digits, to the end of a key.
inline void append_hexadecimal(std::string& key, uint32_t number) {
  char digits[8];
  for (char* at = digits + 8; at != digits; number >>= 4) *--at = "0123456789abcdef"[number & 15];
  key.append(digits, sizeof digits);
}

inline constexpr char kDigitZero = '!';
inline constexpr uint32_t kDigitBase = 94;
inline constexpr uint32_t kDigitsMax = 9;  // 94^9 < 2^59

// How many values a field has, by its width.
inline constexpr auto kDigitValues = [] {
  std::array<int64_t, kDigitsMax + 1> values{1};
  for (uint32_t i = 0; i < kDigitsMax; ++i) values[i + 1] = values[i] * kDigitBase;
  return values;
}();
constexpr int64_t digit_values(uint32_t width) { return kDigitValues[width]; }

// A field of a payload's text. A signed number is stored with half of the field's values added.
struct Field {
  uint8_t at = 0;  // from the end of the tag
  uint8_t width = 0;
  bool is_signed = false;

  constexpr int64_t bias() const { return is_signed ? digit_values(width) / 2 : 0; }
  constexpr bool holds(int64_t number) const {
    return number >= -bias() && number < digit_values(width) - bias();
  }
};

// Writes a number that the field holds.
inline void write_number(char* text, Field field, int64_t number) {
  int64_t rest = number + field.bias();
  for (uint32_t i = field.width; i-- > 0; rest /= kDigitBase) {
    text[field.at + i] = static_cast<char>(kDigitZero + rest % kDigitBase);
  }
}

// The number in the field; nothing when the text is too short or has other characters.
inline std::optional<int64_t> read_number(std::string_view text, Field field) {
  if (text.size() < std::size_t{field.at} + field.width) return std::nullopt;
  int64_t number = 0;
  for (const char digit : text.substr(field.at, field.width)) {
    if (digit < kDigitZero || digit >= static_cast<char>(kDigitZero + kDigitBase)) {
      return std::nullopt;
    }
    number = number * kDigitBase + (digit - kDigitZero);
  }
  return number - field.bias();
}

}  // namespace keydrome
