// Implements SharedIndexes: names the indexes of the runs of scenarios (short scripts of API
// calls), and remembers which keys each run has left.
#include "benchmarks/scenarios/script/shared_indexes.h"

#include <array>

namespace keydrome::scenarios {

std::string SharedIndexes::name(const std::string& scenario, bool first_run,
                                const std::string& letter, KeyType type) const {
  constexpr std::array<const char*, 3> kTypes{"int32", "int64", "varchar"};
  return scope_ + (first_run ? scenario : kTypes.at(static_cast<std::size_t>(type))) + "-" + letter;
}

std::vector<uint32_t> SharedIndexes::take_keys(const std::string& name) {
  std::set<uint32_t>& keys = keys_[name];
  std::vector<uint32_t> taken(keys.begin(), keys.end());
  keys.clear();
  return taken;
}

}  // namespace keydrome::scenarios
