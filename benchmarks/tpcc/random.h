// TPC-C's random numbers: NURand and last names.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/kit/rng.h"

namespace keydrome::tpcc {

// NURand(a, low, high) with the run's constant c: some values come far more often than others.
constexpr int64_t nurand_value(int64_t small, int64_t wide, int64_t c, int64_t low, int64_t high) {
  return ((small | wide) + c) % (high - low + 1) + low;
}

inline constexpr int64_t kNurandName = 255, kNurandCustomer = 1023, kNurandItem = 8191;

// The constants C of a run, one for each a. That of last names has another value while loading, and
// the difference of both is in [65, 119], neither 96 nor 112.
struct NurandConstants {
  int64_t name_load, name, customer, item;
};
NurandConstants draw_constants(Rng& rng);

int64_t nurand(Rng& rng, int64_t a, int64_t c, int64_t low, int64_t high);

// 0 <= number < 1000: three syllables.
std::string last_name(int64_t number);

}  // namespace keydrome::tpcc
