#include "base/affinity.h"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace keydrome {

Result<void> pin_this_thread(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return Error{"no CPU has the number " + std::to_string(cpu)};
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    return Error{"cannot bind a thread to CPU " + std::to_string(cpu) + ": " +
                 std::strerror(errno)};
  }
  return {};
}

}  // namespace keydrome
