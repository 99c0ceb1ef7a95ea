// Implements the random numbers of TPC-C: chooses the constants, combines uniform numbers, and
// spells last names.
#include "benchmarks/tpcc/random.h"

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/check.h"

namespace keydrome::tpcc {
namespace {

bool is_allowed(int64_t difference) {
  return difference >= 65 && difference <= 119 && difference != 96 && difference != 112;
}

}  // namespace

NurandConstants random_constants(workload::Rng& rng) {
  NurandConstants constants{};
  constants.name_load = rng.between(0, kNurandName);
  do {
    constants.name = rng.between(0, kNurandName);
  } while (!is_allowed(std::abs(constants.name - constants.name_load)));
  constants.customer = rng.between(0, kNurandCustomer);
  constants.item = rng.between(0, kNurandItem);
  return constants;
}

int64_t nurand(workload::Rng& rng, int64_t a, int64_t c, int64_t low, int64_t high) {
  const int64_t small = rng.between(0, a);
  return nurand_value(small, rng.between(low, high), c, low, high);
}

std::string last_name(int64_t number) {
  static constexpr std::array<std::string_view, 10> kSyllables = {
      "BAR", "OUGHT", "ABLE",  "PRI",   "PRES",  // codespell:ignore pres
      "ESE", "ANTI",  "CALLY", "ATION", "EING"};
  KEYDROME_CHECK(number >= 0 && number < 1000);
  const auto syllable = [](int64_t digit) { return kSyllables[static_cast<std::size_t>(digit)]; };
  std::string name(syllable(number / 100));
  name.append(syllable(number / 10 % 10)).append(syllable(number % 10));
  return name;
}

}  // namespace keydrome::tpcc
