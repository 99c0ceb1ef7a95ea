#include "benchmarks/tpcc/keys.h"

#include <array>
#include <cstdio>

#include "base/check.h"
#include "benchmarks/tpcc/rows.h"

namespace keydrome::tpcc {
namespace {

std::string number(const char* format, int64_t value) {
  std::array<char, 24> text{};
  const int length = std::snprintf(text.data(), text.size(), format, static_cast<long>(value));
  KEYDROME_CHECK(length > 0 && static_cast<std::size_t>(length) < text.size());
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::string name_prefix(int64_t w, int64_t d, std::string_view last) {
  return number("%05ld", w) + number("%02ld", d) + padded(last, kNameWidth);
}

std::string name_key(int64_t w, int64_t d, std::string_view last, std::string_view first,
                     int64_t c) {
  return name_prefix(w, d, last) + padded(first, kNameWidth) + number("%04ld", c);
}

}  // namespace keydrome::tpcc
