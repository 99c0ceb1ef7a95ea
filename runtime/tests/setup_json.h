// The JSON of keydrome_configure, for tests.
#pragma once

#include <string>

#include "base/json.h"

namespace keydrome::runtime {

inline std::string setup_json(const std::string& structure, const std::string& lock,
                              const std::string& control = "index_2pl") {
  Json setup;
  setup["structure"] = structure;
  Json& configuration = setup["configuration"];
  configuration["name"] = lock;
  configuration["title"] = lock;
  configuration["description"] = "for a test";
  configuration["strategy"] = "direct";
  configuration["control"] = control;
  configuration["lock"] = lock;
  return setup.dump();
}

inline std::string test_structure(const std::string& name) {
  return std::string(KEYDROME_TEST_STRUCTURES) + "/" + name + ".so";
}

}  // namespace keydrome::runtime
