// Implements directory.h: makes a directory, searches it, and changes its list of pending slots. A
// slot is a fence, i.e. a lower bound of pairs, with its leaf. A slot is pending if it was added
// after the directory had been made.
#include "structures/csb/directory.h"

#include <algorithm>
#include <new>

#include "structures/csb/lookup.h"
#include "structures/csb/search.h"

namespace keydrome::csb {
namespace {

constexpr size_t kAlignment = 64;

constexpr size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

// Returns about 4 * sqrt(slots), but at least 16.
uint32_t changes_max_for(uint32_t slots) {
  uint64_t root = 4;
  while (root * root < slots) root += root / 4;
  return static_cast<uint32_t>(4 * root);
}

}  // namespace

// The directory and its arrays are one block of memory. Each array starts at a cache line.
Directory* Directory::create(const Memory& memory, uint32_t slots) {
  Directory plan;
  plan.slots_ = slots;
  plan.changes_max_ = changes_max_for(slots);
  plan.bytes_ = round_up(sizeof(Directory), kAlignment);
  std::array<size_t, kLevelsMax> heads_at{};
  const auto reserve = [&](size_t bytes) {
    const size_t at = plan.bytes_;
    plan.bytes_ += round_up(bytes, kAlignment);
    return at;
  };
  for (uint32_t size = slots;; size = (size + kFanout - 1) / kFanout) {
    plan.sizes_[plan.levels_] = size;
    heads_at[plan.levels_++] = reserve(size * sizeof(uint64_t));
    if (size <= kFanout) break;
  }
  const size_t fences_at = reserve(slots * sizeof(Record*));
  const size_t leaves_at = reserve(slots * sizeof(Leaf*));
  const size_t pending_at = reserve(plan.changes_max_ * sizeof(Pending));
  const size_t afters_at = reserve(plan.changes_max_ * sizeof(uint32_t));
  const size_t followed_words = (slots + 63) / 64;
  const size_t followed_at = reserve(followed_words * sizeof(uint64_t));

  auto* block = static_cast<uint8_t*>(memory.allocate(plan.bytes_, kAlignment));
  if (block == nullptr) return nullptr;
  auto* directory = new (block) Directory(plan);
  for (uint32_t level = 0; level < plan.levels_; ++level) {
    directory->heads_[level] = reinterpret_cast<uint64_t*>(block + heads_at[level]);
  }
  directory->fences_ = reinterpret_cast<Record**>(block + fences_at);
  directory->leaves_ = reinterpret_cast<Leaf**>(block + leaves_at);
  directory->pending_ = reinterpret_cast<Pending*>(block + pending_at);
  directory->afters_ = reinterpret_cast<uint32_t*>(block + afters_at);
  directory->followed_ = reinterpret_cast<uint64_t*>(block + followed_at);
  std::fill_n(directory->followed_, followed_words, 0);
  return directory;
}

void Directory::destroy(const Memory& memory, Directory* directory) {
  memory.retire(directory, directory->bytes_, kAlignment);
}

void Directory::fill_heads() {
  skipped_ = 0;
  if (slots_ > 1) {  // fences are sorted, so all share the bytes that the first and the last share
    const Record& first = *fences_[1];
    const Record& last = *fences_[slots_ - 1];
    uint32_t size = std::min(first.key_size, last.key_size);
    if (size <= sizeof(uint64_t)) size = 0;  // a head has the whole key
    while (skipped_ < size && first.key()[skipped_] == last.key()[skipped_]) ++skipped_;
  }
  for (uint32_t slot = 0; slot < slots_; ++slot) heads_[0][slot] = head_of_fence(slot);
  for (uint32_t level = 0; level < levels_; ++level) {
    if (level > 0) {
      for (uint32_t i = 0; i < sizes_[level]; ++i)
        heads_[level][i] = heads_[level - 1][i * kFanout];
    }
    const auto padded = static_cast<uint32_t>(round_up(sizes_[level], kFanout));
    std::fill(heads_[level] + sizes_[level], heads_[level] + padded, UINT64_MAX);
  }
}

bool Directory::has_right_heads() const {
  for (uint32_t slot = 0; slot < slots_; ++slot) {
    if (heads_[0][slot] != head_of_fence(slot)) return false;
  }
  for (uint32_t level = 1; level < levels_; ++level) {
    for (uint32_t i = 0; i < sizes_[level]; ++i) {
      if (heads_[level][i] != heads_[level - 1][i * kFanout]) return false;
    }
  }
  return true;
}

bool Directory::has_right_bits() const {
  for (uint32_t slot = 0, item = 0; slot < slots_; ++slot) {
    const bool expected = item < pending_count_ && afters_[item] == slot;
    if (is_followed(slot) != expected) return false;
    while (item < pending_count_ && afters_[item] == slot) ++item;
  }
  return true;
}

// Fence 0 has no record, because it is smaller than all pairs.
uint64_t Directory::head_of_fence(uint32_t slot) const {
  if (slot == 0) return 0;
  const Record& fence = *fences_[slot];
  return head_of(fence.key() + skipped_, fence.key_size - skipped_);
}

// If the probe's key does not begin with the bytes that all fences share, returns the smallest or
// the largest head. Fences with an equal head are then compared in full.
uint64_t Directory::head_after_skipped(const Probe& probe) const {
  const uint32_t size = std::min(skipped_, probe.key_size);
  const int order = size == 0 ? 0 : std::memcmp(probe.key, fences_[1]->key(), size);
  if (order > 0) return UINT64_MAX;
  if (order < 0 || size < skipped_) return 0;
  return head_of(probe.key + skipped_, probe.key_size - skipped_);
}

uint32_t Directory::settle_equal(uint32_t slot, uint64_t head, const Probe& probe) const {
  if (slot == 0 || compare(*fences_[slot], probe) <= 0) return slot;
  const uint64_t* heads = heads_[0];
  auto low = static_cast<uint32_t>(std::lower_bound(heads + 1, heads + slot, head) - heads);
  uint32_t high = slot;
  while (low < high) {  // finds the first larger fence
    const uint32_t middle = (low + high) / 2;
    if (compare(*fences_[middle], probe) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}

Leaf* Directory::find(const Probe& probe) const { return Lookup<SearchPlain>::leaf(*this, probe); }

Place Directory::locate(const Probe& probe) const {
  return locate_pending(Lookup<SearchPlain>::slot(*this, probe), probe);
}

// Finds the last pending slot whose fence is not larger than the pair. `slot` must be the directory
// slot of the pair. The loop over `afters_` has no branches that depend on the data.
Place Directory::locate_pending(uint32_t slot, const Probe& probe) const {
  uint32_t item = 0;
  // Finds the first pending slot whose pending_after() is not smaller than the slot of the pair.
  for (uint32_t size = pending_count_; size > 0;) {
    const uint32_t half = (size + 1) / 2;
    item += half * static_cast<uint32_t>(afters_[item + half - 1] < slot);
    size -= half;
  }
  if (item == pending_count_ || afters_[item] != slot) return {leaves_[slot], slot, item};
  const uint32_t* end = std::upper_bound(afters_ + item, afters_ + pending_count_, slot);
  const Pending* first = pending_ + item;
  const Pending* larger = std::partition_point(
      first, first + (end - (afters_ + item)),
      [&](const Pending& pending) { return compare(*pending.fence, probe) <= 0; });
  Leaf* leaf = larger == first ? leaves_[slot] : larger[-1].leaf;
  return {leaf, slot, static_cast<uint32_t>(larger - pending_)};
}

void Directory::insert_pending(uint32_t item, uint32_t after, const Pending& pending) {
  std::copy_backward(pending_ + item, pending_ + pending_count_, pending_ + pending_count_ + 1);
  std::copy_backward(afters_ + item, afters_ + pending_count_, afters_ + pending_count_ + 1);
  pending_[item] = pending;
  afters_[item] = after;
  followed_[after / 64] |= uint64_t{1} << after % 64;
  ++pending_count_;
}

void Directory::erase_pending(uint32_t item) {
  const uint32_t after = afters_[item];
  std::copy(pending_ + item + 1, pending_ + pending_count_, pending_ + item);
  std::copy(afters_ + item + 1, afters_ + pending_count_, afters_ + item);
  --pending_count_;
  const auto is_same = [&](uint32_t other) {
    return other < pending_count_ && afters_[other] == after;
  };
  if (is_same(item) || (item > 0 && is_same(item - 1))) return;
  followed_[after / 64] &= ~(uint64_t{1} << after % 64);
}

}  // namespace keydrome::csb
