// Measures how hard keys are to learn: computes the minimum number of line segments that predict
// the rank of every key (its position in key order) with an error of at most `epsilon`.
//
// The algorithm is optimal piecewise linear approximation (J. O'Rourke, CACM 1981), as used by P.
// Ferragina and G. Vinciguerra for the PGM-index (PVLDB 2020). C. Wongkham et al. (GRE, PVLDB 2022)
// measure data sets by these numbers with epsilon 32 and 4096. Thread safety: pure function.
#pragma once

#include <cstdint>
#include <span>

namespace keydrome::workload {

inline constexpr int64_t kLocalEpsilon = 32;
inline constexpr int64_t kGlobalEpsilon = 4'096;

// Returns the number of segments. `keys` must be ascending and different. The result is exact,
// because only integers are used. Takes O(n log n) time: half a second for two million keys.
uint64_t segments(std::span<const int64_t> keys, int64_t epsilon);

}  // namespace keydrome::workload
