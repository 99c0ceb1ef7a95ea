// Implements the growth of the hash table: each insertion splits a few buckets. A bucket is a chain
// of lines, each with up to three entries (line.h).
#include <algorithm>
#include <new>

#include "structures/hash/table.h"

namespace keydrome::hash {

// Divides the entries of a chain into two chains. Needs no memory: k full lines have 3k entries,
// and two chains with 3k entries in total need at most k + 1 lines. The additional line is the home
// line of the new bucket.
class Table::Split {
 public:
  Split(Line* old_home, Line* new_home) : ends_{old_home, new_home} {}

  // Gives add() a line of the old chain for reuse. The entries of the line must have been copied.
  void free_line(Line* line) {
    line->next.store(free_, std::memory_order_release);
    free_ = line;
  }

  void add(int chain, uint64_t key, const Content& content) {
    if (used_[chain] == Line::kSlots) {
      Line* line = free_;
      free_ = line->next.load(std::memory_order_relaxed);
      line->clear();
      ends_[chain]->next.store(line, std::memory_order_release);
      ends_[chain] = line;
      used_[chain] = 0;
    }
    ends_[chain]->write(used_[chain]++, key, content);
  }

  void retire_rest(const Memory& memory) {
    while (free_ != nullptr) {
      Line* line = free_;
      free_ = line->next.load(std::memory_order_relaxed);
      memory.retire(line, sizeof(Line), alignof(Line));
    }
  }

 private:
  Line* ends_[2];
  uint32_t used_[2] = {0, 0};
  Line* free_ = nullptr;
};

bool Table::has_segment(uint32_t segment) {
  if (segment >= kSegments) return false;
  if (segments_[segment].load(std::memory_order_relaxed) != 0) return true;
  void* raw = memory_.allocate(size_of(segment) * sizeof(Line), alignof(Line));
  if (raw == nullptr) return false;
  const auto origin = reinterpret_cast<uintptr_t>(raw) - first_of(segment) * sizeof(Line);
  segments_[segment].store(origin, std::memory_order_release);
  return true;
}

// Splits one bucket. Only one thread splits at a time. Returns false, and changes nothing, if out
// of memory.
bool Table::split_next() {
  const uint64_t fresh = buckets_.load(std::memory_order_relaxed);
  if (!has_segment(segment_of(fresh))) return false;
  Line* new_home = new (home_of(fresh)) Line;
  Line* old_home = home_of(fresh - std::bit_floor(fresh));
  uint32_t version = old_home->version.load(std::memory_order_relaxed) & ~Line::kLocked;
  for (SpinWait wait; !old_home->version.compare_exchange_weak(
           version, version | Line::kLocked, std::memory_order_acquire, std::memory_order_relaxed);
       wait.once()) {
    version &= ~Line::kLocked;
  }
  Split split(old_home, new_home);
  for (Line* line = old_home; line != nullptr;) {
    uint64_t keys[Line::kSlots], hashes[Line::kSlots];
    Content contents[Line::kSlots];
    const uint32_t used = Line::used(line->read_marks());
    for (uint32_t slot = 0; slot < used; ++slot) {
      keys[slot] = line->read_key(slot);
      hashes[slot] = hash_at(*line, slot);
      contents[slot] = content_at(*line, slot);
    }
    Line* next = line->next.load(std::memory_order_relaxed);
    line == old_home ? line->clear() : split.free_line(line);
    for (uint32_t slot = 0; slot < used; ++slot) {
      const int chain = bucket_of(hashes[slot], fresh + 1) == fresh ? 1 : 0;
      split.add(chain, keys[slot], contents[slot]);
    }
    line = next;
  }
  // Publishes the new bucket. A thread that sees the old home line unlocked also sees the new
  // number of buckets.
  buckets_.store(fresh + 1, std::memory_order_release);
  unlock({old_home, version}, true);
  split.retire_rest(memory_);
  return true;
}

void Table::grow(uint64_t hash) {
  const auto wants = [&] { return wanted_.load(std::memory_order_relaxed); };
  const uint64_t now = buckets_.load(std::memory_order_relaxed);
  if (now == wants()) {
    const int64_t sample = stripes_[hash >> 58].value.load(std::memory_order_relaxed);
    if (sample * static_cast<int64_t>(kStripes) <= static_cast<int64_t>(kLoadMax * now)) return;
  }
  if (splitting_.exchange(true, std::memory_order_acquire)) return;
  if (buckets_.load(std::memory_order_relaxed) == wants()) {
    wanted_.store(2 * wants(), std::memory_order_relaxed);
  }
  for (uint32_t i = 0; i < kSplitsPerPut; ++i) {
    if (buckets_.load(std::memory_order_relaxed) == wants() || !split_next()) break;
  }
  splitting_.store(false, std::memory_order_release);
}

}  // namespace keydrome::hash
