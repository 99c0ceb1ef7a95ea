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
  // version of its table, and that the table has all mandatory functions. The library is never
  // unloaded, because threads may still run in it when the process exits.
  static Result<StructureLibrary> load(const std::string& path);

  // Makes the object for a structure that is linked into this program. The table must live as long
  // as the process.
  static StructureLibrary built_in(const KeydromeStructureTable& table) {
    return StructureLibrary(&table);
  }

  const KeydromeStructureTable& table() const { return *table_; }

 private:
  explicit StructureLibrary(const KeydromeStructureTable* table) : table_(table) {}

  const KeydromeStructureTable* table_;
};

}  // namespace keydrome::runtime
