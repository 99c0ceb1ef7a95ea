// Faults on purpose: tests/faulty compiles single sources again with a number, to prove that the
// checks find what they claim to find. tests/faulty/mutants.json says what each number breaks. In
// every product the number is 0 and the compiler removes the faults.
//
// Only for .cc files: what stands in a header would differ between the sources of one library.
#pragma once

#include <cstdint>

#ifndef KEYDROME_MUTANT
#define KEYDROME_MUTANT 0
#endif

namespace keydrome::runtime {

constexpr bool mutant(int number) { return number == KEYDROME_MUTANT; }

// For a fault that shows once in `period` calls of a thread.
template <int number>
bool mutant_strikes(uint64_t period) {
  if constexpr (mutant(number)) {
    thread_local uint64_t calls = 0;
    return ++calls % period == 0;
  }
  return false;
}

}  // namespace keydrome::runtime
