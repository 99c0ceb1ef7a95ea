// Millions of texts in order: what takes longest before reads are judged.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/strings.h"

namespace keydrome {

// The numbers of all texts, which hold no zero bytes, in ascending order of the texts as
// std::string_view compares them: the contract's order. Equal texts stand side by side.
//
// What is sorted are notes of 16 bytes, by the first eight bytes in which the texts differ, and by
// the next eight where these are equal. So a text is looked at once in eight bytes and not in each
// comparison, which would be a cache miss: a million addresses take a fifth of the time.
std::vector<uint32_t> ascending(const Strings& texts);

}  // namespace keydrome
