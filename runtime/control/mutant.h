// Faults on purpose, to prove that the checks find what they claim to find. tests/faulty compiles
// the sources that have one again with all of them and links those once for each fault, with an
// object that says its number. tests/sanitized compiles a source with one fault, KEYDROME_MUTANT.
// What each number breaks is told in tests/faulty/mutants.json. In every product the number is 0
// and the compiler removes the faults.
//
// Only for .cc files: what stands in a header would differ between the sources of one library.
#pragma once

#include <cstdint>

#ifndef KEYDROME_MUTANT
#define KEYDROME_MUTANT 0
#endif

#ifdef KEYDROME_ALL_MUTANTS
extern "C" const int keydrome_mutant_number;
#endif

namespace keydrome::runtime {

#ifdef KEYDROME_ALL_MUTANTS
inline bool mutant(int number) { return number == keydrome_mutant_number; }
#else
constexpr bool mutant(int number) { return number == KEYDROME_MUTANT; }
#endif

// For a fault that shows once in `period` calls of a thread.
template <int number>
bool mutant_strikes(uint64_t period) {
  if (!mutant(number)) return false;
  thread_local uint64_t calls = 0;
  return ++calls % period == 0;
}

}  // namespace keydrome::runtime
