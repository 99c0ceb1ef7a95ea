// Implements the order of the pairs of a word page (words.h), for scans and for copies.
#include "structures/art/words.h"

namespace keydrome::art {

namespace {

constexpr uint32_t kSlotBits = std::bit_width(kPagePairs - 1);

// Some slots of a page, with their keys as numbers: a smaller key has a smaller number.
struct Keys {
  uint32_t count = 0;
  uint32_t same = 0;  // number of leading bits that all keys have in common
  uint8_t slots[kPagePairs];
  uint64_t numbers[kPagePairs];

  // `among` has one bit for each slot, set for the slots to include.
  Keys(const Words& words, uint32_t among) {
    uint64_t different = 0;
    for (; among != 0; among &= among - 1) {
      const auto slot = static_cast<uint32_t>(std::countr_zero(among));
      slots[count] = static_cast<uint8_t>(slot);
      numbers[count] = in_order(words.key(slot));
      different |= numbers[count++] ^ numbers[0];
    }
    same = static_cast<uint32_t>(std::countl_zero(different));
  }
};

// Sorts by a prefix of the keys, without the leading bits that all keys share. The prefix and the
// number of the slot together have 31 bits. The position of a key is the number of smaller keys,
// which the code counts for four keys at a time. There are no branches that depend on the keys,
// because no processor could predict them.
void sort_by_first_bits(const Keys& keys, uint8_t* sorted) {
  using Four = int32_t __attribute__((vector_size(16)));
  alignas(Four) int32_t numbers[kPagePairs];
  for (uint32_t i = 0; i < keys.count; ++i) {
    const uint64_t bits = keys.numbers[i] << keys.same >> (33 + kSlotBits);
    numbers[i] = static_cast<int32_t>(bits << kSlotBits | keys.slots[i]);
  }
  for (uint32_t i = keys.count; i % 4 != 0; ++i) numbers[i] = INT32_MAX;
  for (uint32_t i = 0; i < keys.count; i += 4) {
    const Four four = *reinterpret_cast<const Four*>(numbers + i);
    Four smaller{};
    for (uint32_t j = 0; j < keys.count; ++j) smaller -= four > numbers[j];  // true is -1
    const uint32_t end = keys.count - i;
    for (uint32_t k = 0; k < 4 && k < end; ++k) sorted[smaller[k]] = keys.slots[i + k];
  }
}

// Sorts by keys and payloads.
void sort_by_pairs(const Words& words, const Keys& keys, uint8_t* sorted) {
  __extension__ using Wide = unsigned __int128;
  Wide pairs[kPagePairs];
  for (uint32_t i = 0; i < keys.count; ++i) {
    pairs[i] = Wide{keys.numbers[i]} << 64 | in_order(words.payload(keys.slots[i]));
  }
  for (uint32_t i = 0; i < keys.count; ++i) {
    uint32_t smaller = 0;
    for (uint32_t j = 0; j < keys.count; ++j) smaller += pairs[j] < pairs[i] ? 1 : 0;
    sorted[smaller] = keys.slots[i];
  }
}

}  // namespace

uint32_t Words::sort(uint32_t among, uint8_t (&sorted)[kPagePairs]) const {
  const Keys keys(*this, among);
  if (keys.count == 2 && keys.numbers[0] != keys.numbers[1]) {
    const auto first = static_cast<uint32_t>(keys.numbers[1] < keys.numbers[0]);
    sorted[0] = keys.slots[first];
    sorted[1] = keys.slots[1 - first];
    return 2;
  }
  if (keys.count > 2 && keys.same < 64) {
    sort_by_first_bits(keys, sorted);
    uint32_t ascending = 1;
    for (uint32_t i = 1; i < keys.count; ++i) {
      ascending += in_order(key(sorted[i - 1])) < in_order(key(sorted[i])) ? 1 : 0;
    }
    if (ascending == keys.count) return keys.count;
  }
  sort_by_pairs(*this, keys, sorted);
  return keys.count;
}

}  // namespace keydrome::art
