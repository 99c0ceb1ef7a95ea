// Makes the JSON text that tests pass to keydrome_configure, and the paths of test structures.
#pragma once

#include <string>

#include "base/json.h"

namespace keydrome::runtime {

// `lock` is used as the configuration's lock, name and title.
inline std::string setup_json(const std::string& structure, const std::string& lock,
                              const std::string& concurrency = "index_2pl") {
  Json setup;
  setup["structure"] = structure;
  Json& configuration = setup["configuration"];
  configuration["name"] = lock;
  configuration["title"] = lock;
  configuration["description"] = "for a test";
  configuration["strategy"] = "direct";
  configuration["concurrency"] = concurrency;
  configuration["lock"] = lock;
  return setup.dump();
}

inline std::string test_structure(const std::string& name) {
  return std::string(KEYDROME_TEST_STRUCTURES) + "/" + name + ".so";
}

}  // namespace keydrome::runtime
