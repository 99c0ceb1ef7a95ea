// Lets structure_bench, the program that times data structures, measure Abseil's B-tree, if the
// package libabsl-dev is installed.
#include "structures/bench/subject.h"

#ifdef KEYDROME_HAS_ABSL

#include <absl/container/btree_map.h>
#include <absl/strings/string_view.h>

#include "structures/bench/map_subject.h"

namespace keydrome::bench {

std::unique_ptr<Subject> make_absl_btree(bool integers) {
  using Integers = absl::btree_map<uint64_t, uint64_t>;
  using Strings = absl::btree_map<std::string, uint64_t>;
  if (integers) return std::make_unique<MapSubject<Integers, IntegerKeys>>("absl::btree_map");
  // Debian's Abseil has its own type of string view. With std::string, each lookup would allocate
  // memory.
  return std::make_unique<MapSubject<Strings, StringKeys<absl::string_view>>>("absl::btree_map");
}

}  // namespace keydrome::bench

#else

std::unique_ptr<keydrome::bench::Subject> keydrome::bench::make_absl_btree(bool) { return nullptr; }

#endif
