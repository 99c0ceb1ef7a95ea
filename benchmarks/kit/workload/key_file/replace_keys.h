// Replaces the keys of a workload with keys of a file.
//
// The keys are replaced in key order: the smallest key of the workload becomes the smallest of the
// keys that are chosen from the file, the second smallest becomes the second smallest, and so on.
// Therefore the order of keys, the places of missing keys between present ones, and all operations
// stay as the workload chose them. The keys of checks (extra transactions) stay smaller than all
// keys of the workload.
//
// Not thread-safe.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/workload/key_file/key_file.h"

namespace keydrome::workload {

// Replaces all keys of the file's type. If the file has more keys than the script, the seed chooses
// which of them are used: every set of keys is equally likely. Returns an error if the file has
// fewer keys than the script. REQUIRES: the workload has no negative integer, and its checks use
// StripeKeys::kOutside. Takes O(m + n log n) time for m keys of the file and n of the script.
Result<void> replace_keys(script::Script& script, const KeyFile& keys, uint64_t seed);

}  // namespace keydrome::workload
