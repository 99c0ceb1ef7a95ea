// NumberTable: finds the number of a value that the caller stores in an array of its own. The table
// stores only hashes and numbers, so it needs 16 to 32 bytes for a value of any size.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace keydrome::workload {

class NumberTable {
 public:
  // Returns the number of the value with this hash for which is_value(number) is true. If there is
  // none, adds `next` as the number of a new value and returns `next`. REQUIRES: next < UINT32_MAX.
  template <typename IsValue>
  uint32_t find_or_add(uint64_t hash, uint32_t next, IsValue&& is_value) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    const auto short_hash = static_cast<uint32_t>(hash >> 32);
    uint64_t at = short_hash & (entries_.size() - 1);
    for (; entries_[at].number != kFree; at = (at + 1) & (entries_.size() - 1)) {
      const Entry& entry = entries_[at];
      if (entry.hash == short_hash && is_value(entry.number)) return entry.number;
    }
    entries_[at] = {.hash = short_hash, .number = next};
    ++count_;
    return next;
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Entry {
    uint32_t hash = 0, number = kFree;
  };

  // Doubles the table, whose size is a power of two.
  void grow() {
    std::vector<Entry> before(entries_.empty() ? 64 : 2 * entries_.size());
    before.swap(entries_);
    for (const Entry& entry : before) {
      if (entry.number == kFree) continue;
      uint64_t at = entry.hash & (entries_.size() - 1);
      while (entries_[at].number != kFree) at = (at + 1) & (entries_.size() - 1);
      entries_[at] = entry;
    }
  }

  std::vector<Entry> entries_;
  uint64_t count_ = 0;
};

}  // namespace keydrome::workload
