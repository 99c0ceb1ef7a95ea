// IndexNames: stores writable copies of the index names that the player, the process that loads the
// library, passes to it. The addresses of the names stay valid as long as the object exists, which
// is until the process ends.
//
// The function create() of the index API takes a `char*`, and some known libraries keep the
// pointer. Therefore a name must be writable and must remain valid after the call. There is one
// IndexNames object per process, and all threads share it.
//
// Thread safety: immutable after construction.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "benchmarks/kit/format/program.h"

namespace keydrome::player {

class IndexNames {
 public:
  explicit IndexNames(std::span<const format::IndexEntry> indexes)
      : entries_(indexes.begin(), indexes.end()) {}
  char* name(uint32_t index) { return entries_[index].name; }

 private:
  std::vector<format::IndexEntry> entries_;
};

}  // namespace keydrome::player
