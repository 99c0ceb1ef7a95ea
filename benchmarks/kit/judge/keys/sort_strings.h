// Sorts the string keys of a script, the operations of a session. Sorting millions of strings is
// the most expensive step before the judge can check reads, so the function is optimised.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/script/strings.h"

namespace keydrome::judge {

// Returns the numbers of all strings in the key order of the index API, which is the order of
// std::string_view. REQUIRES: no string contains a zero byte.
//
// The function sorts entries of 16 bytes. Each entry contains the number of a string and eight
// bytes of the string. The first pass uses the eight bytes after the prefix that all strings share.
// Entries with equal bytes are sorted again by the next eight bytes. So each string is read once
// per eight bytes. A comparison sort would read strings in every comparison, with a cache miss each
// time.
// For a million web addresses, this function takes a fifth of the time of a comparison sort.
std::vector<uint32_t> ascending(const script::Strings& texts);

}  // namespace keydrome::judge
