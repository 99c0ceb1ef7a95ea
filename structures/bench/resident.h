// Measures the resident memory (RSS) of a subject.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "structures/bench/keys.h"
#include "structures/bench/subject.h"

namespace keydrome::bench {

// Returns how many bytes of resident memory per key a subject needs. Loads `count` keys in a
// process of its own, and divides the growth of this process's memory by `count`. A process that
// has freed memory before would let the subject reuse this memory, so the result would be too
// small. So call this function before the process allocates much memory or starts a thread.
double resident_bytes_per_key(const std::function<std::unique_ptr<Subject>()>& make, KeySet set,
                              uint64_t count);

}  // namespace keydrome::bench
