// How hard keys are to learn: the fewest straight lines that say the rank of every key to within
// `epsilon`.
//
// Optimal piecewise linear approximation: J. O'Rourke, CACM 1981, as P. Ferragina and G.
// Vinciguerra use it for the PGM-index (PVLDB 2020); as a measure of data sets, with epsilon 32 and
// 4096: C. Wongkham et al. (GRE), PVLDB 2022. Thread safety: pure function.
#pragma once

#include <cstdint>
#include <span>

namespace keydrome::keysets {

inline constexpr int64_t kLocalEpsilon = 32;
inline constexpr int64_t kGlobalEpsilon = 4'096;

// `keys` ascend, differ from each other and are not negative. Exact: integers only. O(n log n);
// half a second for two million keys.
uint64_t segments(std::span<const int64_t> keys, int64_t epsilon);

}  // namespace keydrome::keysets
