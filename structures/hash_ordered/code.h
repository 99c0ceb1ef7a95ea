// Codes: order-preserving hashes of symbols. A symbol is a byte of key or payload, or an end mark
// (pair.h). A code packs the symbols of a pair from a position on into 64 bits, as many as fit. If
// one pair is less than another, and the symbols before the position are the same, its code is less
// or equal.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "structures/hash_ordered/pair.h"

namespace keydrome::hash_ordered {

// How a code represents symbols.
enum class Alphabet : uint8_t {
  // Eight symbols of 8 bits. The end of a pair has the same 8 bits as the byte 0. If an end mark
  // after a key had these bits, too, codes of keys with different sizes would not keep the order.
  // So this alphabet serves only keys of one size, which need no end mark.
  kBytes,
  // Ten symbols as digits of a number with base 75. Letters, digits and a few other characters have
  // digits of their own. The bytes between two such characters share one digit, and the code ends
  // after the first shared digit.
  kText,
  // Seven symbols of 9 bits. Two pairs that differ in one of these symbols have different codes.
  kExact,
};

uint64_t code_of_bytes(const Probe& pair, uint32_t position);
uint64_t code_of_text(const Probe& pair, uint32_t position);
uint64_t code_of_symbols(const Probe& pair, uint32_t position, uint32_t mark);

// Returns the code of the symbols from `position` on. `mark` is 1 if an end mark follows the key,
// and 0 if all keys have the same size.
inline uint64_t code_of(const Probe& pair, uint32_t position, uint32_t mark, Alphabet alphabet) {
  switch (alphabet) {
    case Alphabet::kBytes:
      if (position + 8 <= pair.key.size() && position == 0) return pair.head;
      return code_of_bytes(pair, position);
    case Alphabet::kText:
      return code_of_text(pair, position);
    case Alphabet::kExact:
      return code_of_symbols(pair, position, mark);
  }
  return 0;
}

}  // namespace keydrome::hash_ordered
