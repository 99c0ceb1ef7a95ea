// Writes and reads numbers as text, because keys and payloads are strings. Workloads use these
// functions when the referee, the process that runs and judges a session, generates operations.
// Procedures, the transactions that compute their keys and payloads (procedure.h), use them while
// they run.
//
// A key contains a number as eight hexadecimal digits. A payload contains numbers in fields of
// fixed width, in base 94. The 94 digits are the printable characters from '!' to '~', and the most
// significant digit comes first. The rest of the payload is plain text.
//
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keydrome::format {

// Appends the number to a key as eight hexadecimal digits.
inline void append_hexadecimal(std::string& key, uint32_t number) {
  char digits[8];
  for (char* at = digits + 8; at != digits; number >>= 4) *--at = "0123456789abcdef"[number & 15];
  key.append(digits, sizeof digits);
}

inline constexpr char kDigitZero = '!';
inline constexpr uint32_t kDigitBase = 94;
inline constexpr uint32_t kDigitsMax = 9;  // 94^9 < 2^59

// The number of different values of a field, for each width from 0 to kDigitsMax digits.
inline constexpr auto kDigitValues = [] {
  std::array<int64_t, kDigitsMax + 1> values{1};
  for (uint32_t i = 0; i < kDigitsMax; ++i) values[i + 1] = values[i] * kDigitBase;
  return values;
}();
constexpr int64_t digit_values(uint32_t width) { return kDigitValues[width]; }

// The position of a number in a payload's text. A signed number is stored after half of the field's
// value range has been added to it, so the stored number is never negative.
struct Field {
  uint8_t at = 0;     // bytes from the end of the tag (the first 8 letters of the payload)
  uint8_t width = 0;  // digits
  bool is_signed = false;

  constexpr int64_t bias() const { return is_signed ? digit_values(width) / 2 : 0; }
  constexpr bool holds(int64_t number) const {
    return number >= -bias() && number < digit_values(width) - bias();
  }
};

// Writes the number into the field of `text`. REQUIRES: field.holds(number).
inline void write_number(char* text, Field field, int64_t number) {
  int64_t rest = number + field.bias();
  for (uint32_t i = field.width; i-- > 0; rest /= kDigitBase) {
    text[field.at + i] = static_cast<char>(kDigitZero + rest % kDigitBase);
  }
}

// Returns the number in the field. Returns nothing if the text is too short or if a character of
// the field is no digit.
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

}  // namespace keydrome::format
