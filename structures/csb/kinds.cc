// Implements the functions of Tree (tree.h) that change the kind of a leaf (entry.h): the entries
// become records, or contain the word pairs themselves.
#include <array>

#include "structures/csb/tree.h"

namespace keydrome::csb {

// Makes a record of each word pair of the leaf. Returns false if out of memory. The leaf is then
// unchanged.
bool Tree::to_records(Leaf& leaf) {
  std::array<Record*, Leaf::kCapacity> records;
  for (uint32_t i = 0; i < leaf.count; ++i) {
    records[i] = memory_.make_record(*StoredPair(leaf.kind, leaf.entries[i]));
    if (records[i] == nullptr) {
      while (i > 0) memory_.drop(records[--i]);
      return false;
    }
  }
  for (uint32_t i = 0; i < leaf.count; ++i) leaf.entries[i].record = records[i];
  leaf.kind = Kind::kRecords;
  return true;
}

// REQUIRES: all pairs of the leaf are word pairs.
void Tree::to_words(Leaf& leaf) {
  for (uint32_t i = 0; i < leaf.count; ++i) {
    Record* record = leaf.entries[i].record;
    leaf.entries[i] = Entry::of_words(Probe::of(*record));
    memory_.drop(record);
  }
  leaf.kind = Kind::kWords;
}

// Changes the kind of one of two leaves, so that the pairs of `other` may move to `leaf`. Returns
// false if out of memory. Never fails if one of the leaves is empty.
bool Tree::have_one_kind(Leaf& leaf, Leaf& other) {
  if (leaf.kind == other.kind || other.count == 0) return true;
  if (leaf.count == 0) {
    leaf.kind = other.kind;
    return true;
  }
  return to_records(leaf.kind == Kind::kWords ? leaf : other);
}

}  // namespace keydrome::csb
