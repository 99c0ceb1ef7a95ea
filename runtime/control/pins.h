// The indexes that a transaction has used: they may not be deleted before it ends.
//
// Thread safety: none; belongs to one transaction.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/index.h"

namespace keydrome::runtime {

class Pins {
 public:
  // The caller knows that it is pinned already, by a handle. Throws std::bad_alloc.
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
