// StructureLibrary: loads the shared library of a bare structure (a data structure without
// transactions and locks) and gives access to its table of functions.
//
// Thread safety: the object does not change after load().
#pragma once

#include <string>

#include "base/result.h"
#include "keydrome/structure.h"

namespace keydrome::runtime {

class StructureLibrary {
 public:
  // Loads the library with RTLD_LOCAL, so that its symbols do not clash with others. Checks the
  // version of its table, and that the table has all required functions. The library is never
  // unloaded, because threads may still run in it when the process exits.
  static Result<StructureLibrary> load(const std::string& path);

  // Checks a table, and copies it. Functions that an older structure does not know are absent in
  // the copy, and functions that this runtime does not know are left out. `path` is for messages.
  static Result<StructureLibrary> of(const KeydromeStructureTable* table, const std::string& path);

  // Valid as long as this object exists.
  const KeydromeStructureTable& table() const { return table_; }

 private:
  explicit StructureLibrary(const KeydromeStructureTable& table) : table_(table) {}

  KeydromeStructureTable table_;
};

}  // namespace keydrome::runtime
