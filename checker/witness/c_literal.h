// Formats values as C literals, for c_program() (c_program.h), which writes C programs that repeat
// a violation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "checker/names.h"

namespace keydrome::witness {

// Returns a string literal of these bytes, which must not contain NUL.
inline std::string c_string(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?') {
      text += c;
      continue;
    }
    // Writes three octal digits, because a hexadecimal escape would include any digits after it.
    text += '\\';
    for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + (byte >> shift & 7));
  }
  return text + "\"";
}

// Returns the C definition of the array kCodes, which contains the name of each result code.
inline std::string c_code_names() {
  std::string text = "static const char* const kCodes[] = {";
  for (std::size_t code = 0; code < kCodeNames.size(); ++code) {
    text += (code == 0 ? "" : code % 6 == 0 ? ",\n    " : ", ") + c_string(kCodeNames[code]);
  }
  return text + "};\n";
}

// Returns an expression of type long long. The smallest value is written as a difference, because C
// has no literal for it.
inline std::string c_integer(int64_t number) {
  if (number == INT64_MIN) return std::to_string(number + 1) + "LL - 1";
  return std::to_string(number) + "LL";
}

}  // namespace keydrome::witness
