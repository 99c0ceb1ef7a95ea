// Implements load_library(), which loads the library under test: calls dlopen, then dlsym for the
// ten functions of keydrome/index.h, then keydrome_configure. Every failure becomes a LoadStatus
// and a sentence for the report.
#include "harness/player/library.h"

#include <dlfcn.h>

#include <array>

#include "keydrome/extensions.h"

namespace keydrome {
namespace {

LoadedLibrary refuse(LoadStatus status, std::string reason) {
  return {.status = status, .reason = std::move(reason), .api = {}};
}

template <typename Function>
bool look_up(void* library, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return true;
  missing += (missing.empty() ? "" : ", ") + std::string(name);
  return false;
}

LoadedLibrary look_up_all(void* library) {
  LoadedLibrary loaded;
  player::IndexApi& api = loaded.api;
  std::string missing;
  look_up(library, "create", api.create, missing);
  look_up(library, "openIndex", api.openIndex, missing);
  look_up(library, "closeIndex", api.closeIndex, missing);
  look_up(library, "beginTransaction", api.beginTransaction, missing);
  look_up(library, "abortTransaction", api.abortTransaction, missing);
  look_up(library, "commitTransaction", api.commitTransaction, missing);
  look_up(library, "get", api.get, missing);
  look_up(library, "getNext", api.getNext, missing);
  look_up(library, "insertRecord", api.insertRecord, missing);
  look_up(library, "deleteRecord", api.deleteRecord, missing);
  if (missing.empty()) return loaded;
  return refuse(kLoadSymbolMissing,
                "the library does not export " + missing +
                    "; export all ten functions of keydrome/index.h with C linkage");
}

// Passes the configuration to the library. Returns the reason if the library refuses it, else "".
std::string configure(void* library, const char* configuration) {
  std::string missing;
  decltype(&keydrome_configure) function = nullptr;
  if (!look_up(library, "keydrome_configure", function, missing)) {
    return "the run has a configuration, but the library does not export keydrome_configure; "
           "export this function, or run without a configuration";
  }
  std::array<char, 1024> reason{};
  try {
    if (function(configuration, reason.data(), static_cast<uint32_t>(reason.size())) == 0)
      return "";
  } catch (...) {
    return "keydrome_configure threw an exception; to refuse a configuration, return a value other "
           "than 0";
  }
  reason.back() = '\0';
  return reason.front() == '\0'
             ? "the library refused its configuration and gave no reason; its function "
               "keydrome_configure can write one into the parameter `reason`"
             : "the library refused its configuration: " + std::string(reason.data());
}

}  // namespace

LoadedLibrary load_library(const char* path, const char* configuration) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = dlerror();
    return refuse(kLoadNotOpened, error == nullptr ? "dlopen gave no reason" : error);
  }
  LoadedLibrary loaded = look_up_all(library);
  if (loaded.status != kLoadOk || configuration[0] == '\0') return loaded;
  const std::string reason = configure(library, configuration);
  return reason.empty() ? loaded : refuse(kLoadNotConfigured, reason);
}

}  // namespace keydrome
