// A std::set with the interface of a data structure (contract B, keydrome/structure.h). It has only
// the required functions. README.md says how to compile it.
#include <memory_resource>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "keydrome/structure_class.h"

namespace {

using keydrome::bytes_of;
using keydrome::view_of;

using Pair = std::pair<std::pmr::string, std::pmr::string>;  // key and payload
using View = std::pair<std::string_view, std::string_view>;

struct Order {  // by key, then by payload; std::string_view compares bytes in the order of memcmp
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const {
    return View(a.first, a.second) < View(b.first, b.second);
  }
};

class Student {
 public:
  Student(const KeydromeEnvironment& environment, const KeydromeSetup&) : memory_(environment) {}

  int put(KeydromeBytes key, KeydromeBytes payload) {
    return pairs_.emplace(view_of(key), view_of(payload)).second ? 1 : 0;
  }

  int del(KeydromeBytes key, KeydromeBytes payload) {
    const auto found = pairs_.find(View(view_of(key), view_of(payload)));
    if (found == pairs_.end()) return 0;
    pairs_.erase(found);
    return 1;
  }

  int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const {
    const View from(view_of(key), view_of(payload));
    auto pair = after ? pairs_.upper_bound(from) : pairs_.lower_bound(from);
    if (after && payload.data == nullptr) {  // after all payloads of the key
      while (pair != pairs_.end() && pair->first == from.first) ++pair;
    }
    keydrome_run_clear(&run);
    for (; pair != pairs_.end(); ++pair) {
      if (keydrome_run_add(&run, bytes_of(pair->first), bytes_of(pair->second)) == 0) return 1;
    }
    return 0;
  }

 private:
  keydrome::StructureResource memory_;  // all memory of the set comes from the environment
  std::pmr::set<Pair, Order> pairs_{&memory_};
};

constexpr KeydromeStructureTable kTable = keydrome::structure_table<Student>({
    .name = "student",
    .description = "std::set of pairs",
    .capabilities = KEYDROME_SHARED_READS,
});

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
