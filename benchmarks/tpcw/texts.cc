// Implements the texts of the benchmark "tpcw" (rows and names). Words are made of TPC-W's ten
// syllables.
#include "benchmarks/tpcw/texts.h"

#include <array>

#include "base/check.h"
#include "benchmarks/kit/workload/random_text.h"
#include "benchmarks/tpcw/tables.h"

namespace keydrome::tpcw {

std::string word(uint64_t number, uint32_t digits) {
  static constexpr std::array kSyllables = {"BA", "OG", "AL", "RI", "RE",
                                            "SE", "AT", "UL", "IN", "NG"};
  std::string text;
  for (; digits > 0; --digits, number /= 10) text.insert(0, kSyllables[number % 10]);
  return text;
}

std::string customer_name(uint32_t customer) { return word(customer, 8); }

std::string row_text(uint32_t bytes, std::initializer_list<FieldValue> values,
                     std::string_view rest) {
  std::string text(bytes, format::kDigitZero);
  for (const auto& [field, number] : values) {
    KEYDROME_CHECK(field.holds(number) && field.at + uint32_t{field.width} <= bytes);
    format::write_number(text.data(), field, number);
  }
  return text.append(rest);
}

std::string customer_text(workload::Rng& rng, int64_t discount, int64_t address) {
  return row_text(kNamesAt, {{kDiscount, discount}, {kAddress, address}, {kLogins, 0}},
                  workload::letters().text(rng, kNamesBytes));
}

}  // namespace keydrome::tpcw
