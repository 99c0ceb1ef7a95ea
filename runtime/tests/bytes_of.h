// Bytes as the runtime takes them, of a string that outlives them.
#pragma once

#include <cstdint>
#include <string>

#include "keydrome/structure.h"

namespace keydrome::runtime {

inline KeydromeBytes bytes_of(const std::string& text) {
  return {text.data(), static_cast<uint32_t>(text.size())};
}

}  // namespace keydrome::runtime
