// Implements scan(), find() and find_batch() of Tree (tree.h), which change nothing.
#include <algorithm>

#include "structures/csb/tree.h"

namespace keydrome::csb {
namespace {

// A position in the list of leaves. A Cursor is a local variable of one call.
class Cursor {
 public:
  // Starts at the first record >= the probe, or > the probe if `after` is true. `leaf` must be the
  // leaf to which the probe belongs.
  Cursor(const Leaf* leaf, const Probe& probe, bool after)
      : leaf_(leaf), index_(leaf->lower_bound(probe)) {
    if (after && leaf->has(index_, probe)) ++index_;
  }

  // Returns the record at the position and moves to the next one. Returns nullptr at the end.
  const Record* next() {
    while (index_ == leaf_->count) {
      if (leaf_->next == nullptr) return nullptr;
      leaf_ = leaf_->next;
      index_ = 0;
    }
    // Reading a record is a cache miss. Several misses at the same time take little longer than
    // one.
    if (index_ + kAhead < leaf_->count) __builtin_prefetch(leaf_->entries[index_ + kAhead].record);
    return leaf_->entries[index_++].record;
  }

 private:
  static constexpr uint32_t kAhead = 8;

  const Leaf* leaf_;
  uint32_t index_;
};

int answer(const Record* record, const Probe& key, KeydromeBuffer& payload) {
  if (record == nullptr || compare_keys(*record, key) != 0) return 0;
  copy_payload(view_of(record->payload_bytes()), payload);
  return 1;
}

}  // namespace

int Tree::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
               KeydromeRun& run) const noexcept {
  const Probe from = Probe::of_scan(key, payload, after);
  keydrome_run_clear(&run);
  const Leaf* leaf = directory_->locate(from).leaf;
  leaf->prefetch();
  Cursor cursor(leaf, from, after);
  while (run.pairs < run.limit) {
    const Record* record = cursor.next();
    if (record == nullptr) return 0;
    if (keydrome_run_add(&run, record->key_bytes(), record->payload_bytes()) == 0) return 1;
  }
  return 1;
}

int Tree::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  const Probe from = Probe::of(key, after);
  const Leaf* leaf = directory_->locate(from).leaf;
  leaf->prefetch();
  return answer(Cursor(leaf, from, after.data != nullptr).next(), from, payload);
}

// Runs groups of kTogether lookups step by step: while one lookup waits for memory, the others use
// the processor.
void Tree::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  constexpr uint32_t kTogether = 16;
  for (uint32_t begin = 0; begin < count; begin += kTogether) {
    const uint32_t group = std::min(kTogether, count - begin);
    struct Step {
      Probe key;
      uint64_t head;
      uint32_t node;
      const Leaf* leaf;
    };
    std::array<Step, kTogether> steps;
    for (uint32_t i = 0; i < group; ++i) {
      Step& step = steps[i];
      step.key = Probe::of(lookups[begin + i].key, {nullptr, 0});
      step.head = directory_->head_for(step.key);
      step.node = directory_->bottom_node(step.head);
    }
    for (uint32_t i = 0; i < group; ++i) {
      Step& step = steps[i];
      step.leaf = directory_->locate_in(step.node, step.head, step.key).leaf;
      __builtin_prefetch(step.leaf);
    }
    for (uint32_t i = 0; i < group; ++i) steps[i].leaf->prefetch_group(steps[i].key.head);
    for (uint32_t i = 0; i < group; ++i) {
      const Leaf& leaf = *steps[i].leaf;
      const uint32_t index = leaf.first_head(steps[i].key.head);
      if (index < leaf.count) __builtin_prefetch(leaf.entries[index].record);
    }
    for (uint32_t i = 0; i < group; ++i) {
      KeydromeLookup& lookup = lookups[begin + i];
      const Record* record = Cursor(steps[i].leaf, steps[i].key, false).next();
      lookup.found = answer(record, steps[i].key, lookup.payload);
    }
  }
}

}  // namespace keydrome::csb
