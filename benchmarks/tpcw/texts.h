// Makes the texts of the benchmark "tpcw": words, names and rows.
//
// Thread safety: pure functions, except for the caller's Rng.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "benchmarks/kit/format/digits.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::tpcw {

// Returns `number` as a word of TPC-W: one syllable for each of its last `digits` decimal digits.
std::string word(uint64_t number, uint32_t digits);

// Titles begin with a word of this many digits.
inline constexpr uint32_t kTitleWordDigits = 5;

std::string customer_name(uint32_t customer);

struct FieldValue {
  format::Field field;
  int64_t number;
};

// Returns a row of `bytes` characters with these fields, followed by `rest`. All other fields are
// 0.
std::string row_text(uint32_t bytes, std::initializer_list<FieldValue> values,
                     std::string_view rest = "");

// Returns the row of a new customer, with random names.
std::string customer_text(workload::Rng& rng, int64_t discount, int64_t address);

}  // namespace keydrome::tpcw
