// Reads the CPU time of the kernel threads whose work a library can cause, although this work is
// not counted in the library's control group. khugepaged makes huge pages, ksmd merges pages,
// kcompactd moves pages, and kswapd frees memory.
//
// The jail, the sandbox of a library, limits and measures the library by its control group. The
// work of these threads is outside the group, although a library can cause it. But the threads work
// for all processes of the machine, so their time does not prove anything about a library.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace keydrome {

class KernelThreads {
 public:
  // Finds the threads. Finds none in a container with its own process ids. Takes some milliseconds.
  KernelThreads();

  // Returns the threads that the first call found. They live as long as the machine runs.
  // Thread-safe.
  static const KernelThreads& found();

  // CPU time in microseconds, by the thread's name without its number.
  using Times = std::map<std::string, uint64_t>;
  Times cpu_us() const;

 private:
  struct Found {
    std::string name;
    pid_t process;
  };
  std::vector<Found> threads_;
};

}  // namespace keydrome
