// Implements scan(), find() and find_batch() of Tree (tree.h), which change nothing.
#include <algorithm>

#include "structures/csb/lookup.h"
#include "structures/csb/search.h"
#include "structures/csb/tree.h"

namespace keydrome::csb {
namespace {

// A position in the list of leaves. A Cursor is a local variable of one call.
class Cursor {
 public:
  // Starts at the first pair >= the probe, or > the probe if `after` is true. `leaf` must be the
  // leaf to which the probe belongs.
  Cursor(const Leaf* leaf, const Probe& probe, bool after)
      : leaf_(leaf), index_(leaf->lower_bound(probe)) {
    if (after && leaf->has(index_, probe)) ++index_;
  }

  // Goes to the next leaf if this leaf has no further pair. Returns false if no leaf has one.
  bool has_pair() {
    while (index_ == leaf_->count) {
      if (leaf_->next() == nullptr) return false;
      leaf_ = leaf_->next();
      index_ = 0;
    }
    return true;
  }
  const Leaf& leaf() const { return *leaf_; }
  uint32_t& index() { return index_; }

 private:
  const Leaf* leaf_;
  uint32_t index_;
};

// Adds the pairs of a leaf from `index` on, until the run is full. Returns false if it is.
bool add_words(const Leaf& leaf, uint32_t& index, KeydromeRun& run) {
  constexpr uint32_t kBytes = 2 + 2 * kWordBytes;
  const uint32_t room = std::min(run.limit - run.pairs, (run.capacity - run.size) / kBytes);
  const uint32_t added = std::min(room, leaf.count - index);
  auto* to = static_cast<uint8_t*>(run.data) + run.size;
  for (const Entry* entry = &leaf.entries[index]; entry != &leaf.entries[index + added]; ++entry) {
    to[0] = kWordBytes;
    to[1] = kWordBytes;
    store_big(to + 2, entry->head);
    std::memcpy(to + 2 + kWordBytes, &entry->payload, kWordBytes);
    to += kBytes;
  }
  index += added;
  run.pairs += added;
  run.size += added * kBytes;
  return index == leaf.count && run.pairs < run.limit;
}

bool add_records(const Leaf& leaf, uint32_t& index, KeydromeRun& run) {
  constexpr uint32_t kAhead = 8;
  for (; index < leaf.count; ++index) {
    // Reading a record is a cache miss. Several misses at the same time take little longer than
    // one.
    if (index + kAhead < leaf.count) __builtin_prefetch(leaf.entries[index + kAhead].record);
    const Record& record = *leaf.entries[index].record;
    if (keydrome_run_add(&run, record.key_bytes(), record.payload_bytes()) == 0) return false;
  }
  return run.pairs < run.limit;
}

}  // namespace

int Tree::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
               KeydromeRun& run) const noexcept {
  const Probe from = Probe::of_scan(key, payload, after);
  keydrome_run_clear(&run);
  const Leaf* first = directory_->find(from);
  first->prefetch();
  Cursor cursor(first, from, after);
  while (cursor.has_pair()) {
    const Leaf& leaf = cursor.leaf();
    uint32_t& index = cursor.index();
    if (leaf.next() != nullptr && run.limit - run.pairs > leaf.count - index) {
      leaf.next()->prefetch();
    }
    const bool has_room =
        leaf.kind == Kind::kWords ? add_words(leaf, index, run) : add_records(leaf, index, run);
    if (!has_room) return 1;
  }
  return 0;
}

int find_from(const Leaf& from, const Probe& key, bool after, KeydromeBuffer& payload) {
  Cursor cursor(&from, key, after);
  if (!cursor.has_pair()) return 0;
  const Leaf& leaf = cursor.leaf();
  const Entry& entry = leaf.entries[cursor.index()];
  if (!entry.has_key(leaf.kind, key)) return 0;
  copy_payload(view_of(entry.payload_bytes(leaf.kind)), payload);
  return 1;
}

int Tree::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  return Lookup<SearchPlain>::find(*directory_, key, after, payload);
}

void Tree::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  Lookup<SearchPlain>::find_batch(*directory_, count, lookups);
}

}  // namespace keydrome::csb
