// Implements the order of the pairs of a word page (words.h), for scans and for copies.
#include "structures/art/words.h"

namespace keydrome::art {

namespace {

// Writes slots[i] to sorted[n], where n is the number of elements that are smaller than
// numbers[i]. No two numbers are equal. The loop has no branches that depend on the numbers,
// because no processor could predict them.
template <class Number>
void place(const Number* numbers, const uint8_t* slots, uint32_t count, uint8_t* sorted) {
  for (uint32_t i = 0; i < count; ++i) {
    const Number number = numbers[i];
    uint32_t smaller = 0;
    for (uint32_t j = 0; j < count; ++j) smaller += static_cast<uint32_t>(numbers[j] < number);
    sorted[smaller] = slots[i];
  }
}

}  // namespace

// If all keys have the same first bits and no two keys are equal, the other bits of a key and its
// slot fit into one number. Otherwise the function compares keys and payloads.
uint32_t Words::sort(uint32_t among, uint8_t (&sorted)[kPagePairs]) const {
  __extension__ using Wide = unsigned __int128;
  constexpr uint32_t kSlotBits = std::bit_width(kPagePairs - 1);
  uint8_t slots[kPagePairs];
  uint64_t keys[kPagePairs];
  uint32_t count = 0;
  uint64_t different = 0;  // the bits in which any two keys differ
  for (; among != 0; among &= among - 1) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(among));
    slots[count] = static_cast<uint8_t>(slot);
    keys[count] = in_order(key(slot));
    different |= keys[count++] ^ keys[0];
  }
  if (count == 1) {
    sorted[0] = slots[0];
    return count;
  }
  const auto same = static_cast<uint32_t>(std::countl_zero(different));
  if (same >= kSlotBits && different != 0) {
    bool distinct = true;
    for (uint32_t i = 0; i < count; ++i) keys[i] = keys[i] << same | slots[i];
    place(keys, slots, count, sorted);
    for (uint32_t i = 1; i < count; ++i) distinct &= key(sorted[i - 1]) != key(sorted[i]);
    if (distinct) return count;
  }
  Wide pairs[kPagePairs];
  for (uint32_t i = 0; i < count; ++i) {
    pairs[i] = Wide{in_order(key(slots[i]))} << 64 | in_order(payload(slots[i]));
  }
  place(pairs, slots, count, sorted);
  return count;
}

}  // namespace keydrome::art
