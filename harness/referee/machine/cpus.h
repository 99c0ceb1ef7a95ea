// Counts the CPUs that this process may use, and parses CPU lists such as "0-2,5".
//
// The referee, the program that runs a benchmark session, writes the number of CPUs into its
// report. In verified mode, each call passes from one process to another. If there are enough CPUs,
// the threads then wait by polling and do not sleep (verified_partner.cc).
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace keydrome {

// Returns how many CPUs the calling thread may run on, or 0 if the kernel reports an error.
std::size_t usable_cpu_count();

// Parses a CPU list in the kernel's format: "0-2,5" is {0, 1, 2, 5}.
Result<std::vector<int>> parse_cpu_list(const std::string& list);

}  // namespace keydrome
