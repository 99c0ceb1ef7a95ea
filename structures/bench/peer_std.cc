// Lets structure_bench, the program that times data structures, measure std::map.
#include <functional>
#include <map>

#include "structures/bench/map_subject.h"

namespace keydrome::bench {

std::unique_ptr<Subject> make_std_map(bool integers) {
  using Integers = std::map<uint64_t, uint64_t>;
  using Strings = std::map<std::string, uint64_t, std::less<>>;
  if (integers) return std::make_unique<MapSubject<Integers, IntegerKeys>>("std::map");
  return std::make_unique<MapSubject<Strings, StringKeys<std::string_view>>>("std::map");
}

}  // namespace keydrome::bench
