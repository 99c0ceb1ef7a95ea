// Measures the resident memory (RSS) of a subject, one of the things that the program
// structure_bench compares (subject.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "structures/bench/keys.h"
#include "structures/bench/subject.h"

namespace keydrome::bench {

// Returns how many bytes of resident memory per key a subject needs. Loads `count` keys in a forked
// child process, and divides the growth of the child's memory by `count`. Call this function before
// the process has allocated much memory or started a thread: the child could otherwise reuse memory
// that the parent has freed, and the result would be too small.
double resident_bytes_per_key(const std::function<std::unique_ptr<Subject>()>& make, KeySet set,
                              uint64_t count);

}  // namespace keydrome::bench
