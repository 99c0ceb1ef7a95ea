// FlatTable: an open-addressing hash table from (64-bit key, 32-bit tag) to a 32-bit number, for
// millions of entries that are looked up in a stream: prefetch() some entries ahead hides the miss.
//
// Linear probing, at most 5/8 full, 16 bytes a slot. Thread safety: one thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace keydrome {

class FlatTable {
 public:
  explicit FlatTable(std::size_t expected)
      : slots_(std::bit_ceil(expected * 8 / 5 + 8)), shift_(64 - std::countr_zero(slots_.size())) {}

  std::size_t size() const { return size_; }

  // Of the slot where a key stands whatever its tag.
  void prefetch(uint64_t key) const { __builtin_prefetch(&slots_[home(key)], 1); }

  // The number of (key, tag), or 0xffffffff.
  uint32_t find(uint64_t key, uint32_t tag) const {
    for (std::size_t place = home(key);; place = (place + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[place];
      if (slot.number == 0 || (slot.key == key && slot.tag == tag)) return slot.number - 1;
    }
  }

  // The number of (key, tag); a new one gets the table's size before it.
  uint32_t number_of(uint64_t key, uint32_t tag) {
    std::size_t place = home(key);
    while (slots_[place].number != 0) {
      const Slot& slot = slots_[place];
      if (slot.key == key && slot.tag == tag) return slot.number - 1;
      place = (place + 1) & (slots_.size() - 1);
    }
    slots_[place] = {key, tag, static_cast<uint32_t>(++size_)};
    if (size_ * 8 > slots_.size() * 5) grow();
    return static_cast<uint32_t>(size_ - 1);
  }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t tag = 0;
    uint32_t number = 0;  // plus 1; 0 is a free slot
  };

  // Fibonacci hashing: the high bits of a product with 2^64 / phi.
  std::size_t home(uint64_t key) const { return (key * 0x9e3779b97f4a7c15u) >> shift_; }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old) {
      if (slot.number == 0) continue;
      std::size_t place = home(slot.key);
      while (slots_[place].number != 0) place = (place + 1) & (slots_.size() - 1);
      slots_[place] = slot;
    }
  }

  std::vector<Slot> slots_;
  int shift_;
  std::size_t size_ = 0;
};

}  // namespace keydrome
