// Measures the resident memory (RSS) of a subject.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "structures/bench/keys.h"
#include "structures/bench/subject.h"

namespace keydrome::bench {

// Returns the bytes of resident memory per key that loading `count` keys adds to a process of its
// own. In a process that has freed memory before, a subject would reuse this memory, and seem
// smaller. So call this function before the process allocates much, and make no threads before.
double resident_bytes_per_key(const std::function<std::unique_ptr<Subject>()>& make, KeySet set,
                              uint64_t count);

}  // namespace keydrome::bench
