// FlatTable: a hash table that assigns consecutive 32-bit numbers to pairs of a 64-bit key and a
// 32-bit tag. The tag says what the key belongs to, such as the number of an index. A caller that
// knows its next keys can prefetch() their slots, so that later lookups do not wait for memory.
//
// The table uses open addressing with linear probing. It has 16 bytes per slot and is at most 5/8
// full. Thread safety: one thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace keydrome::history {

class FlatTable {
 public:
  // A caller should prefetch() the key that it will look up kAhead lookups later. This many lookups
  // take about as long as one access to memory.
  static constexpr std::size_t kAhead = 12;

  explicit FlatTable(std::size_t expected)
      : slots_(std::bit_ceil(expected * 8 / 5 + 8)), shift_(64 - std::countr_zero(slots_.size())) {}

  std::size_t size() const { return size_; }

  // Prefetches the first slot of a key. The tag is not needed, because the hash does not use it.
  [[gnu::always_inline]] void prefetch(uint64_t key) const {
    __builtin_prefetch(&slots_[home(key)], 1);
  }

  // Returns the number of (key, tag), or 0xffffffff if the pair is not in the table.
  uint32_t find(uint64_t key, uint32_t tag) const {
    for (std::size_t slot_index = home(key);; slot_index = (slot_index + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[slot_index];
      if (slot.number == 0 || (slot.key == key && slot.tag == tag)) return slot.number - 1;
    }
  }

  // Returns the number of (key, tag). Adds a new pair under the next number; the first number is 0.
  uint32_t number_of(uint64_t key, uint32_t tag) {
    std::size_t slot_index = home(key);
    while (slots_[slot_index].number != 0) {
      const Slot& slot = slots_[slot_index];
      if (slot.key == key && slot.tag == tag) return slot.number - 1;
      slot_index = (slot_index + 1) & (slots_.size() - 1);
    }
    slots_[slot_index] = {key, tag, static_cast<uint32_t>(++size_)};
    if (size_ * 8 > slots_.size() * 5) grow();
    return static_cast<uint32_t>(size_ - 1);
  }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t tag = 0;
    uint32_t number = 0;  // the pair's number plus 1, or 0 if the slot is free
  };

  // Returns the first slot of a key by Fibonacci hashing: the high bits of key * (2^64 / phi).
  std::size_t home(uint64_t key) const { return (key * 0x9e3779b97f4a7c15u) >> shift_; }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old) {
      if (slot.number == 0) continue;
      std::size_t slot_index = home(slot.key);
      while (slots_[slot_index].number != 0) slot_index = (slot_index + 1) & (slots_.size() - 1);
      slots_[slot_index] = slot;
    }
  }

  std::vector<Slot> slots_;
  int shift_;
  std::size_t size_ = 0;
};

}  // namespace keydrome::history
