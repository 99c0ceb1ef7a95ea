// The library under test, loaded into the player.
#pragma once

#include <string>

#include "benchmarks/kit/index_api.h"
#include "harness/protocol.h"

namespace keydrome {

struct LoadedLibrary {
  LoadStatus status = kLoadWell;
  std::string reason;  // for a status other than kLoadWell
  IndexApi api;
};

// Loads `path` with local symbols and all of them bound now, looks the ten functions up, and hands
// `configuration` (a JSON object, or empty: not at all) to keydrome_configure. Runs the library's
// constructors, so it may as well never return. The library stays loaded until the process ends.
LoadedLibrary load_library(const char* path, const char* configuration);

}  // namespace keydrome
