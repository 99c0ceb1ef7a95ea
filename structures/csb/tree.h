// Tree: a cache-conscious tree over pairs of key and payload: linked leaves, and above them a
// directory in contiguous arrays. Read directory.h first, then leaf.h.
//
// Sources: J. Rao, K. Ross, "Making B+-Trees Cache Conscious in Main Memory", SIGMOD 2000; the
// contest entry that restructures its tree at times (E. Reid's thesis on the SIGMOD 2009 programming
// contest, section 4.1). ERIS uses such a tree as range partition table (T. Kissinger et al., ADMS
// 2014, section 4).
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function. Errors: a function that fails has changed no pair, except load.
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
  // Makes an empty tree. The Tree object, too, is in memory of the environment. Returns nullptr if
  // out of memory.
  static Tree* create(const KeydromeEnvironment& environment);
  static void destroy(Tree* tree);

  // These functions do what the functions of the same names in keydrome/structure.h do.
  int put(const Probe& pair);                                             // insert.cc
  int load(const KeydromeRun& run);                                       // insert.cc
  int del(const Probe& pair);                                             // erase.cc
  int replace(const Probe& before, const Probe& now);                     // erase.cc
  int scan(const Probe& from, bool after, KeydromeRun& run) const;        // read.cc
  int find(const Probe& key, bool after, KeydromeBuffer& payload) const;  // read.cc
  void find_batch(uint32_t count, KeydromeLookup* lookups) const;         // read.cc
  int check() const;                                                      // check.cc
  uint64_t statistic(uint32_t which) const;                               // check.cc

 private:
  Tree(const KeydromeEnvironment& environment, Directory* directory, Leaf* leaf)
      : memory_(environment), directory_(directory), first_(leaf), last_(leaf) {}

  // What a split needs: the record of the new pair, a fence and a leaf.
  struct Parts {
    Record* record;
    Record* fence;
    Leaf* leaf;
  };

  bool rebuild();
  bool reserve(const Probe& pair, const Probe& fence_pair, Parts& parts);
  int insert(Leaf* leaf, uint32_t index, const Probe& pair);
  int split_and_insert(Leaf* leaf, uint32_t index, const Probe& pair);
  void merge_next(const Place& place);

  Memory memory_;
  Directory* directory_;
  Leaf* first_;
  Leaf* last_;
  uint32_t leaves_ = 1;
};

}  // namespace keydrome::csb
