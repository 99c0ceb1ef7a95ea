// The fingerprint of a script: SHA-256 over everything that the player would be given.
//
// benchmarks/NAME/fingerprint.json binds it to the benchmark's version: operations that change need
// a new version.
#pragma once

#include <string>

#include "benchmarks/kit/workload.h"

namespace keydrome {

// 64 hexadecimal digits over pools, index names and the ops of every phase and thread.
std::string fingerprint(const Script& script);

// The fingerprint of a benchmark's version: over every instance at smoke scale with the seed
// kFingerprintSeed.
inline constexpr uint64_t kFingerprintSeed = 2009;
Result<std::string> benchmark_fingerprint(const BenchmarkEntry& entry);

}  // namespace keydrome
