// Implements memory_bound.h, which bounds the memory of the referee, this process: sets the soft
// limit of RLIMIT_AS and a parameter of malloc, and reads /proc/meminfo and /proc/self/status.
#include "harness/referee/machine/memory_bound.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/check.h"

namespace keydrome {
namespace {

// Address space in addition to the bound, for the program, its libraries, and memory that is
// reserved but not used.
constexpr uint64_t kAddressSpaceOnly = uint64_t{512} << 20;

rlimit limit_now() {
  rlimit limit{};
  KEYDROME_CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  return limit;
}

void set_soft_limit(rlim_t bytes) {
  const rlimit limit{.rlim_cur = bytes, .rlim_max = limit_now().rlim_max};
  KEYDROME_CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

// Returns the number of bytes in a line such as "MemAvailable:  1234 kB", or 0 if there is none.
uint64_t line_bytes(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 10) << 10;
  }
  return 0;
}

// The soft limit. Before bound_memory() is called, this is the limit that the parent process has
// set.
rlim_t& bound() {
  static rlim_t bytes = limit_now().rlim_cur;
  return bytes;
}

}  // namespace

// The result is ignored, because the allocators of sanitizers refuse the parameter.
void share_heap() { static_cast<void>(mallopt(M_ARENA_MAX, 1)); }

uint64_t bound_memory(uint64_t bytes) {
  const rlim_t most = bound();
  bound() = std::min<rlim_t>(most, bytes + kAddressSpaceOnly);
  set_soft_limit(bound());
  return std::min<uint64_t>(bytes, most);
}

MemoryUnbound::MemoryUnbound() {
  bound();  // notes the limit before it changes
  set_soft_limit(limit_now().rlim_max);
}

MemoryUnbound::~MemoryUnbound() { set_soft_limit(bound()); }

uint64_t available_memory_bytes() { return line_bytes("/proc/meminfo", "MemAvailable:"); }

uint64_t peak_memory_bytes() { return line_bytes("/proc/self/status", "VmHWM:"); }

}  // namespace keydrome
