// Tree: a cache-conscious tree over pairs of key and payload: linked leaves, and above them a
// directory in contiguous arrays. Read directory.h first, then leaf.h.
//
// Sources: J. Rao, K. Ross, "Making B+-Trees Cache Conscious in Main Memory", SIGMOD 2000. An entry
// of the SIGMOD 2009 programming contest rebuilds its tree from time to time (E. Reid's thesis on
// the contest, section 4.1). The storage engine ERIS uses such a tree to find the partition of a
// key (T. Kissinger et al., ADMS 2014, section 4).
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function. Errors: a function that fails has changed no pair, but load may have added
// some.
#pragma once

#include <cstdint>

#include "keydrome/structure.h"
#include "structures/csb/directory.h"
#include "structures/csb/leaf.h"
#include "structures/csb/memory.h"
#include "structures/csb/record.h"

namespace keydrome::csb {

class Tree {
 public:
  // Throws std::bad_alloc if out of memory.
  Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  // keydrome/structure_class.h calls these functions and says what they return.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // insert.cc
  int load(const KeydromeRun& run) noexcept;                                         // insert.cc
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // erase.cc
  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) noexcept;  // erase.cc
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after,
           KeydromeRun& run) const noexcept;  // read.cc
  int find(KeydromeBytes key, KeydromeBytes after,
           KeydromeBuffer& payload) const noexcept;                         // read.cc
  void find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept;  // read.cc
  int check() const;                                                        // check.cc
  uint64_t statistic(uint32_t which) const;                                 // check.cc

 protected:
  const Directory& directory() const { return *directory_; }

 private:
  // Everything that a split needs: the entry of the new pair, a record for the fence, and a leaf.
  struct Parts {
    Entry entry;
    Record* fence;
    Leaf* leaf;
  };

  // Where a split cuts a full leaf to insert a pair at `index`. If pairs are inserted in ascending
  // order, the leaf stays full, and the new leaf gets only the new pair.
  struct Cut {
    Cut(const Leaf& leaf, uint32_t at)
        : index(at),
          is_append(at == leaf.count),
          kept(is_append ? leaf.count : leaf.count / 2),
          is_left(!is_append && index <= kept) {}
    uint32_t index;
    bool is_append;
    uint32_t kept;  // pairs that stay in the leaf
    bool is_left;   // the new pair belongs to the leaf, as its last pair if index == kept
  };

  bool rebuild();
  Record* make_fence(const Leaf& leaf, const Cut& cut, const Probe& pair) const;
  bool reserve(const Leaf& leaf, const Cut& cut, const Probe& pair, Parts& parts);
  void add_slot(const Leaf* left, Leaf* right, Record* fence);
  int add(const Probe& pair);
  int remove(const Probe& pair);
  int insert(Leaf* leaf, uint32_t index, const Probe& pair);
  int insert_into_words(Leaf* leaf, uint32_t index, const Probe& pair);
  int split_and_insert(Leaf* leaf, uint32_t index, const Probe& pair);
  static constexpr int kElsewhere = 3;  // a result of replace_in
  int replace_in(Leaf* leaf, uint32_t index, const Probe& now);
  void merge_next(const Place& place);

  // The best kind for a leaf that contains only this pair, or no pair.
  Kind kind_for(const Probe& pair) const {
    return pair.payload_size == kWordBytes ? kind_ : Kind::kRecords;
  }
  bool to_records(Leaf& leaf);                  // kinds.cc
  void to_words(Leaf& leaf);                    // kinds.cc
  bool have_one_kind(Leaf& leaf, Leaf& other);  // kinds.cc

  Memory memory_;
  const Kind kind_;  // kind of leaves without pairs: kWords if all keys have eight bytes
  Directory* directory_;
  Leaf* first_;
  Leaf* last_;
  uint32_t leaves_ = 1;
};

}  // namespace keydrome::csb
