// Tree: the pairs of key and payload of one instance. The keys are in a T-tree (set.h). If a key
// has several payloads, they are in a T-tree of their own (duplicates.h).
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function. Errors: a function that fails has changed no pair.
#pragma once

#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/ttree/duplicates.h"
#include "structures/ttree/set.h"

namespace keydrome::ttree {

class Tree {
 public:
  Tree(const KeydromeEnvironment& environment, const KeydromeSetup&)
      : memory_(environment), keys_(memory_) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  // These functions are those of keydrome/structure_class.h.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // write.cc
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;                        // write.cc
  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) noexcept;  // write.cc
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after,
           KeydromeRun& run) const noexcept;  // read.cc
  int find(KeydromeBytes key, KeydromeBytes after,
           KeydromeBuffer& payload) const noexcept;                         // read.cc
  void find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept;  // read.cc
  int check() const;                                                        // check.cc
  uint64_t statistic(uint32_t which) const;                                 // check.cc

 private:
  int insert_key(const Probe& key, std::string_view payload);
  int add_second_payload(Entry& entry, std::string_view payload);
  void make_single(Entry& entry);
  void drop(Item item);

  const StructureMemory memory_;
  Set keys_;
};

}  // namespace keydrome::ttree
