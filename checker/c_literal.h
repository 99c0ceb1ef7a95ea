// Values as C literals, for the programs that witnesses come with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace keydrome {

// A string literal of those bytes, which hold no NUL.
inline std::string c_string(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?') {
      text += c;
      continue;
    }
    // Three octal digits: a hexadecimal escape would swallow the digits behind it.
    text += '\\';
    for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + (byte >> shift & 7));
  }
  return text + "\"";
}

// An expression of type long long; the smallest one has no literal.
inline std::string c_integer(int64_t number) {
  if (number == INT64_MIN) return std::to_string(number + 1) + "LL - 1";
  return std::to_string(number) + "LL";
}

}  // namespace keydrome
