// Options: the variants of the delta storage. The paper that tree.h cites compares them.
#pragma once

#include <cstdint>
#include <optional>

namespace keydrome::delta_storage {

struct Options {
  // How a search finds its place in a node. Binary search reads fewer pairs. Linear search reads
  // more pairs, but no load waits for the result of an earlier load.
  bool is_binary = true;
  // Number of dictionaries, a power of two: 1, or the number of cores, rounded up to a power of
  // two, but at most 64.
  uint32_t dictionaries = 1;

  // Parses a JSON object with the members `search` ("binary" or "linear") and `dictionary`
  // ("global" or "per_core"). Both are optional, and the first value is the default. `text` may be
  // NULL. Returns nothing if a member or value is unknown.
  static std::optional<Options> parse(const char* text);
};

}  // namespace keydrome::delta_storage
