// Implements StructureLibrary: loads the shared library of a data structure with dlopen, and checks
// its table of functions.
#include "runtime/instance/structure_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace keydrome::runtime {

namespace {

constexpr const char* kSymbol = "keydrome_structure";

Error loader_error() {
  const char* reason = dlerror();
  return Error{std::string("cannot load the structure's library: ") +
               (reason == nullptr ? "the system gave no reason" : reason) +
               "; give a shared library that was built for this machine, and that is linked with "
               "everything it needs"};
}

// Returns the name of the first required function that the table lacks, or nullptr if it has all.
const char* missing_function(const KeydromeStructureTable& table) {
  const bool ordered = (table.capabilities & KEYDROME_UNORDERED) == 0;
  if (table.create == nullptr) return "create";
  if (table.destroy == nullptr) return "destroy";
  if (table.put == nullptr) return "put";
  if (table.del == nullptr) return "del";
  if (ordered && table.scan == nullptr) return "scan";
  if (!ordered && table.find == nullptr) return "find";
  return nullptr;
}

}  // namespace

Result<StructureLibrary> StructureLibrary::load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return loader_error();
  void* symbol = dlsym(library, kSymbol);
  if (symbol == nullptr) {
    return Error{path + " is not a structure, because it does not export " + kSymbol +
                 "; define this function as api/include/keydrome/structure.h describes it"};
  }
  return of(reinterpret_cast<const KeydromeStructureTable* (*)()>(symbol)(), path);
}

Result<StructureLibrary> StructureLibrary::of(const KeydromeStructureTable* given,
                                              const std::string& path) {
  if (given == nullptr) {
    return Error{path + ": " + kSymbol +
                 " returned NULL; it must return the structure's table of functions"};
  }
  if (given->version != KEYDROME_STRUCTURE_VERSION) {
    return Error{path + " has version " + std::to_string(given->version) +
                 " of the structure contract, but this runtime needs version " +
                 std::to_string(KEYDROME_STRUCTURE_VERSION) +
                 ": build the structure again with this runtime's structure.h"};
  }
  KeydromeStructureTable table{};
  std::memcpy(&table, given, std::min<size_t>(given->size, sizeof table));
  if (table.name == nullptr || table.description == nullptr) {
    return Error{path + ": its KeydromeStructureTable has no name or no description; set both, " +
                 "and set size to sizeof(KeydromeStructureTable)"};
  }
  if (const char* missing = missing_function(table)) {
    return Error{path + ": its KeydromeStructureTable leaves " + missing +
                 " null; the structure must set it (api/include/keydrome/structure.h)"};
  }
  return StructureLibrary(table);
}

}  // namespace keydrome::runtime
