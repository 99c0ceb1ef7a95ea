// SharedIndexes: names the indexes that the runs of scenarios use. A scenario is a short list of
// API calls that is run many times, by one process that has loaded the library.
//
// A library may need a file descriptor or a memory area for each index, and the API has no call
// that removes an index. Therefore the process creates few indexes. The first run of each scenario
// has indexes of its own. All other runs share one index for each key type and letter (A, B or C,
// the name of an index in a scenario). Such a run begins by deleting the records that the previous
// run left. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "keydrome/index.h"

namespace keydrome::scenarios {

class SharedIndexes {
 public:
  // All names begin with `scope`. With different scopes, several scripts that one process plays
  // have indexes of their own.
  explicit SharedIndexes(std::string scope = "") : scope_(std::move(scope)) {}

  // Returns the name of an index with keys of `type` in a run of a scenario.
  std::string name(const std::string& scenario, bool first_run, const std::string& letter,
                   KeyType type) const;

  // Returns true if an earlier run has created the index.
  bool exists(const std::string& name) const { return keys_.contains(name); }
  // Returns the keys that the previous run may have left in the index, as numbers in the script's
  // list of keys, and forgets them.
  std::vector<uint32_t> take_keys(const std::string& name);
  // Notes that a run may leave records under this key, and returns the key.
  uint32_t leave_key(const std::string& name, uint32_t key) {
    return *keys_[name].insert(key).first;
  }

 private:
  const std::string scope_;
  std::map<std::string, std::set<uint32_t>> keys_;  // by name of an index that exists
};

}  // namespace keydrome::scenarios
