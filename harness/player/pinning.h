// Pinning: binds threads of the player to one CPU each while a phase is played.
//
// In a pinned phase (script::PhaseScript::pinned) thread i runs on CPU i of those that the process
// may use, in the order of their numbers. If there are fewer CPUs than threads, the threads share
// them in turn. Outside such phases no thread is bound, and the kernel moves threads as it likes.
// A thread binds itself before its first call of the library. This counts in the time of the phase,
// because the phase starts its threads; it takes microseconds.
//
// A thread that the library creates in a call of a pinned phase begins with the CPU of its caller,
// as Linux defines. Threads that it created before are not bound.
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

namespace keydrome {

// The CPUs that the process may use.
class Cpus {
 public:
  // Reads the CPUs of the calling thread. The player calls this before it loads the library, which
  // could bind the thread. If the kernel does not name them, there are none.
  Cpus();

  // Binds the calling thread to the CPU of thread number `thread` of a phase. Returns false if the
  // kernel refuses. Thread-safe.
  bool bind(uint32_t thread) const;
  // Allows all CPUs for the calling thread again. Thread-safe.
  void release() const;

 private:
  cpu_set_t all_;
  std::vector<int> numbers_;  // ascending
};

}  // namespace keydrome
