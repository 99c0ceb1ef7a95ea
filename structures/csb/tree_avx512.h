// TreeAvx512: a Tree (tree.h) that looks up keys with AVX-512. Lookups need half as many
// instructions, so the processor overlaps more of them. Other functions are those of Tree.
#pragma once

#include <cstdint>

#include "keydrome/structure.h"
#include "structures/csb/tree.h"

namespace keydrome::csb {

// Make objects only if can_use_avx512() (tables.h) returns true.
class TreeAvx512 : public Tree {
 public:
  using Tree::Tree;

  // These hide the functions of Tree on purpose: a table of contract B is made for one class, and
  // virtual functions would make each lookup slower.
  // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method)
  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept;
  void find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept;
  // NOLINTEND(bugprone-derived-method-shadowing-base-method)
};

}  // namespace keydrome::csb
