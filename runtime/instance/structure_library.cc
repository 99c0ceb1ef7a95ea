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

Error loader_error(const std::string& path) {
  const char* reason = dlerror();
  return Error{"the structure " + path +
               " cannot be loaded: " + (reason == nullptr ? "the system gave no reason" : reason) +
               "; give a shared library that was built for this machine, and that is linked with "
               "everything it needs"};
}

// Returns an error if the library lacks keydrome_structure. A library of the ten calls is an easy
// mistake, so the message says where to give it.
Error not_a_structure(void* library, const std::string& path) {
  const bool has_calls =
      dlsym(library, "beginTransaction") != nullptr && dlsym(library, "insertRecord") != nullptr;
  const std::string what =
      has_calls ? "a library of the ten calls, not a structure" : "not a structure";
  return Error{"the file given as the structure (" + path + ") is " + what +
               ": it does not export " + kSymbol + "; " +
               (has_calls
                    ? "give it as the library, and give no structure (in a plan for the "
                      "referee: library.path)"
                    : "define this function as api/include/keydrome/structure.h describes it")};
}

// A member of the table that the structure must set.
struct Member {
  const char* name;
  std::size_t offset;
  bool is_set;
};

// Returns an error if the table lacks a required member. `size` is the size that the table states;
// what follows in `table` is zero.
Result<void> check_members(const KeydromeStructureTable& table, std::size_t size) {
  using Table = KeydromeStructureTable;
  const bool ordered = (table.capabilities & KEYDROME_UNORDERED) == 0;
  const Member members[] = {
      {"name", offsetof(Table, name), table.name != nullptr},
      {"description", offsetof(Table, description), table.description != nullptr},
      {"create", offsetof(Table, create), table.create != nullptr},
      {"destroy", offsetof(Table, destroy), table.destroy != nullptr},
      {"put", offsetof(Table, put), table.put != nullptr},
      {"del", offsetof(Table, del), table.del != nullptr},
      {"scan", offsetof(Table, scan), !ordered || table.scan != nullptr},
      {"find", offsetof(Table, find), ordered || table.find != nullptr},
  };
  for (const Member& member : members) {
    if (member.is_set) continue;
    if (size < member.offset + sizeof(void*)) {
      return Error{"has the size " + std::to_string(size) + ", so it ends before " + member.name +
                   "; set size to sizeof(KeydromeStructureTable)"};
    }
    return Error{std::string("leaves the member ") + member.name +
                 " null; set it (see api/include/keydrome/structure.h)"};
  }
  return {};
}

}  // namespace

Result<StructureLibrary> StructureLibrary::load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return loader_error(path);
  void* symbol = dlsym(library, kSymbol);
  if (symbol == nullptr) return not_a_structure(library, path);
  return of(reinterpret_cast<const KeydromeStructureTable* (*)()>(symbol)(), path);
}

Result<StructureLibrary> StructureLibrary::of(const KeydromeStructureTable* given,
                                              const std::string& path) {
  if (given == nullptr) {
    return Error{"the structure " + path + " cannot be used: its function " + kSymbol +
                 " returned NULL; it must return the structure's table of functions"};
  }
  if (given->version != KEYDROME_STRUCTURE_VERSION) {
    return Error{"the structure " + path + " has version " + std::to_string(given->version) +
                 " of the structure contract, but this runtime needs version " +
                 std::to_string(KEYDROME_STRUCTURE_VERSION) +
                 ": build the structure again with this runtime's structure.h"};
  }
  KeydromeStructureTable table{};
  std::memcpy(&table, given, std::min<size_t>(given->size, sizeof table));
  const Result<void> complete = check_members(table, given->size);
  if (!complete.ok()) {
    return Error{"the structure " + path + " cannot be used: its KeydromeStructureTable " +
                 complete.error().message};
  }
  return StructureLibrary(table);
}

}  // namespace keydrome::runtime
