// count_text(): a number and a noun for messages, such as "1 record" and "3 records".
//
// Thread safety: a pure function.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace keydrome {

// Returns "1 record" or "3 records". REQUIRES: the plural of `noun` ends in an additional "s".
template <std::integral Number>
std::string count_text(Number count, std::string_view noun) {
  std::string text = std::to_string(count) + ' ';
  text.append(noun);
  return count == 1 ? text : text + 's';
}

}  // namespace keydrome
