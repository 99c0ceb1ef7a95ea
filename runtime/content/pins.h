// Pins: pins every index that a transaction uses. A pinned index cannot be deleted, so the indexes
// stay valid until the transaction ends.
//
// Thread safety: none. A Pins object belongs to one transaction.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/index.h"

namespace keydrome::runtime {

class Pins {
 public:
  // Precondition: a handle has pinned the index already. Throws std::bad_alloc.
  void add(Index& index) {
    if (std::find(indexes_.rbegin(), indexes_.rend(), &index) != indexes_.rend()) return;
    indexes_.push_back(&index);
    index.pin();
  }
  void clear() {
    for (Index* index : indexes_) index->unpin();
    indexes_.clear();
  }

 private:
  std::vector<Index*> indexes_;
};

}  // namespace keydrome::runtime
