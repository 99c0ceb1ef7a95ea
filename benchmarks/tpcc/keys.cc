// Implements the keys of customer_name, TPC-C's index of customers by last name: fixed-width
// decimal numbers and padded names.
#include "benchmarks/tpcc/keys.h"

#include <algorithm>

#include "benchmarks/tpcc/rows.h"

namespace keydrome::tpcc {
namespace {

// Appends a non-negative number, with leading zeros up to `digits` digits.
void append_number(std::string& key, int64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  key.append(digits - std::min(digits, text.size()), '0') += text;
}

}  // namespace

std::string name_prefix(int64_t w, int64_t d, std::string_view last) {
  std::string key;
  append_number(key, w, 5);
  append_number(key, d, 2);
  return key += padded(last, kNameWidth);
}

std::string name_key(int64_t w, int64_t d, std::string_view last, std::string_view first,
                     int64_t c) {
  std::string key = name_prefix(w, d, last) + padded(first, kNameWidth);
  append_number(key, c, 4);
  return key;
}

}  // namespace keydrome::tpcc
