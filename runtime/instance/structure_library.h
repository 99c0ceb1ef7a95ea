// A bare structure's shared library, loaded for good.
//
// Thread safety: immutable after load.
#pragma once

#include <string>

#include "base/result.h"
#include "keydrome/structure.h"

namespace keydrome::runtime {

class StructureLibrary {
 public:
  // Loads the library (its symbols stay local) and checks the table: version and the functions that
  // are never optional. The library is not unloaded any more; threads may still be inside it when
  // the process ends.
  static Result<StructureLibrary> load(const std::string& path);

  // A structure that is linked in. The table stays as long as the process.
  static StructureLibrary built_in(const KeydromeStructureTable& table) {
    return StructureLibrary(&table);
  }

  const KeydromeStructureTable& table() const { return *table_; }

 private:
  explicit StructureLibrary(const KeydromeStructureTable* table) : table_(table) {}

  const KeydromeStructureTable* table_;
};

}  // namespace keydrome::runtime
