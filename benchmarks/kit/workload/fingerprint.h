// Computes the fingerprint of a script: a SHA-256 of its indexes, keys, texts, procedures (lists of
// instructions) and operations. A script is everything that one session of a benchmark does.
//
// The file benchmarks/NAME/fingerprint.json stores the fingerprint of each version of a benchmark.
// A test compares it with the fingerprint of the current code, so an author who changes the
// operations must raise the version.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "benchmarks/kit/workload/workload.h"

namespace keydrome::workload {

// Returns the fingerprint of one script in 64 hexadecimal digits. It covers the index names, the
// pools (keys, texts, procedures), and the operations of every phase and thread.
std::string fingerprint(const script::Script& script);

// benchmark_fingerprint() returns the fingerprint of a benchmark. It covers the scripts of all
// instances (variants of the benchmark) at smoke, the smallest scale, generated with the seed
// kFingerprintSeed.
inline constexpr uint64_t kFingerprintSeed = 2009;
Result<std::string> benchmark_fingerprint(const BenchmarkEntry& entry);

}  // namespace keydrome::workload
