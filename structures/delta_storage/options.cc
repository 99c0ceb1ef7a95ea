// Implements options.h: parses the options of the delta storage, a JSON object.
#include "structures/delta_storage/options.h"

#include <algorithm>
#include <bit>
#include <string>
#include <thread>

#include "base/json.h"

namespace keydrome::delta_storage {
namespace {

// The largest number of dictionaries. The number of a dictionary then takes 6 bits of an id.
constexpr uint32_t kDictionariesMax = 64;

bool choose(const Json& value, const char* no, const char* yes, bool& chosen) {
  if (!value.is_string() || (value.as_string() != no && value.as_string() != yes)) return false;
  chosen = value.as_string() == yes;
  return true;
}

}  // namespace

std::optional<Options> Options::parse(const char* text) {
  Options options;
  if (text == nullptr) return options;
  const Result<Json> json = Json::parse(text);
  if (!json || !json->is_object()) return {};
  bool is_per_core = false;
  for (const auto& [name, value] : json->as_object()) {
    const bool is_known =
        (name == "search" && choose(value, "linear", "binary", options.is_binary)) ||
        (name == "dictionary" && choose(value, "global", "per_core", is_per_core));
    if (!is_known) return {};
  }
  if (is_per_core) {
    const uint32_t cores = std::max(std::thread::hardware_concurrency(), 1u);
    options.dictionaries = std::min(std::bit_ceil(cores), kDictionariesMax);
  }
  return options;
}

}  // namespace keydrome::delta_storage
