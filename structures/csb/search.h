// SearchPlain: the searches inside a node of the directory and inside a leaf. They use no vector
// instructions, so they run on any processor. They have no branches that depend on the data,
// because the processor would mispredict half of them.
//
// Numbers are in ascending order. Unused places have the largest number, so a search need not know
// how many are used.
#pragma once

#include <cstdint>

#include "structures/csb/entry.h"

namespace keydrome::csb {

struct SearchPlain {
  // Returns how many of eight numbers are <= `number`.
  [[gnu::always_inline]] static uint32_t at_most(const uint64_t* numbers, uint64_t number) {
    const auto counts = [&](uint32_t i) { return static_cast<uint32_t>(numbers[i] <= number); };
    return counts(0) + counts(1) + counts(2) + counts(3) + counts(4) + counts(5) + counts(6) +
           counts(7);
  }

  // Returns how many of seven numbers are < `number`, i.e. the group of a leaf (leaf.h).
  [[gnu::always_inline]] static uint32_t group(const uint64_t* numbers, uint64_t number) {
    const auto counts = [&](uint32_t i) { return static_cast<uint32_t>(numbers[i] < number); };
    return counts(0) + counts(1) + counts(2) + counts(3) + counts(4) + counts(5) + counts(6);
  }

  // Returns how many of eight entries have smaller heads.
  [[gnu::always_inline]] static uint32_t below(const Entry* entries, uint64_t head) {
    const auto counts = [&](uint32_t i) { return static_cast<uint32_t>(entries[i].head < head); };
    return counts(0) + counts(1) + counts(2) + counts(3) + counts(4) + counts(5) + counts(6) +
           counts(7);
  }
};

}  // namespace keydrome::csb
