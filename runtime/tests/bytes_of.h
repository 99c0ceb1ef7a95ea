// Converts a string to KeydromeBytes (a pointer and a size, structure.h), for tests. The string
// must outlive the KeydromeBytes.
#pragma once

#include <cstdint>
#include <string>

#include "keydrome/structure.h"

namespace keydrome::runtime {

inline KeydromeBytes bytes_of(const std::string& text) {
  return {text.data(), static_cast<uint32_t>(text.size())};
}

}  // namespace keydrome::runtime
