// IndexNames: private writable copies of the index names, at the same addresses for as long as the
// process runs.
//
// The contract's create takes a char* and known libraries keep the pointer, so a name must be
// neither read-only nor short-lived. Made once for the process, shared by all sessions; nobody
// writes to it after construction.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "benchmarks/kit/program.h"

namespace keydrome {

class IndexNames {
 public:
  explicit IndexNames(std::span<const IndexEntry> indexes)
      : entries_(indexes.begin(), indexes.end()) {}
  char* name(uint32_t index) { return entries_[index].name; }
  // The number of an index by the address that name() gave.
  uint16_t number(const char* name) const {
    const auto offset = name - entries_.data()->name;
    return static_cast<uint16_t>(static_cast<std::size_t>(offset) / sizeof(IndexEntry));
  }

 private:
  std::vector<IndexEntry> entries_;
};

}  // namespace keydrome
