// Generates the random numbers of TPC-C: NURand (clause 2.1.6) and last names (clause 4.3.2.3).
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/kit/workload/rng.h"

namespace keydrome::tpcc {

// Returns NURand(a, low, high) with constant c, from two uniform numbers: `small` in [0, a] and
// `wide` in [low, high]. The result is not uniform: some values are far more frequent than others.
constexpr int64_t nurand_value(int64_t small, int64_t wide, int64_t c, int64_t low, int64_t high) {
  return ((small | wide) + c) % (high - low + 1) + low;
}

inline constexpr int64_t kNurandName = 255, kNurandCustomer = 1023, kNurandItem = 8191;

// The constants c of a run, one for each a. Last names have one constant for loading and another
// for the run. These two constants differ by 65 to 119, but not by 96 or 112.
struct NurandConstants {
  int64_t name_load, name, customer, item;
};
NurandConstants random_constants(workload::Rng& rng);

int64_t nurand(workload::Rng& rng, int64_t a, int64_t c, int64_t low, int64_t high);

// Returns three syllables, one for each digit of `number`, where 0 <= number < 1000.
std::string last_name(int64_t number);

}  // namespace keydrome::tpcc
