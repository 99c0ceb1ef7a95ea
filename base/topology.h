// What the machine has: CPUs this process may use, their cores, packages and NUMA nodes, from /sys.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace keydrome {

struct Cpu {
  int id = 0;
  int core = 0;     // hardware threads of one core share this number
  int package = 0;  // socket
  int node = 0;     // NUMA node; 0 where the machine has none
};

// The CPUs that the calling thread may run on, by id. Where /sys is missing (inside the jail) every
// CPU is a core of its own on package and node 0.
Result<std::vector<Cpu>> usable_cpus();

// A CPU list as the kernel writes it: "0-2,5" is {0, 1, 2, 5}.
Result<std::vector<int>> parse_cpu_list(const std::string& list);

}  // namespace keydrome
