// Loads the library under test into the player, the process in the jail (sandbox) that calls the
// library.
#pragma once

#include <string>

#include "benchmarks/kit/player/index_api.h"
#include "harness/protocol.h"

namespace keydrome {

struct LoadedLibrary {
  LoadStatus status = kLoadOk;
  std::string reason;  // why loading failed; empty for kLoadOk
  player::IndexApi api;
};

// Loads `path` with dlopen(RTLD_NOW | RTLD_LOCAL), looks up the ten functions of keydrome/index.h
// (contract A), and passes `configuration` to keydrome_configure. `configuration` is the text of a
// JSON object. If the text is empty, keydrome_configure is not called. load_library() may hang,
// because it runs the library's constructors. The library stays loaded until the process exits.
LoadedLibrary load_library(const char* path, const char* configuration);

}  // namespace keydrome
