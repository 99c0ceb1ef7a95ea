// Pinning: binds threads of the player, the process that calls the library, to one CPU each while
// a phase is played.
//
// In a pinned phase (script::PhaseScript::pinned) thread i runs on CPU i of those that the process
// may use, in the order of the CPUs' numbers. If there are only n CPUs, thread i runs on CPU i
// modulo n. Outside such phases no thread is bound, and the kernel moves threads as it likes. A
// thread binds itself before its first call to the library. Binding takes microseconds, which count
// in the time of the phase, because the clock runs before the phase starts its threads.
//
// On Linux, a new thread inherits the binding of the thread that creates it. So a thread that the
// library creates in a call of a pinned phase is at first bound to its caller's CPU. Threads that
// the library created before the phase are not bound.
#pragma once

#include <sched.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace keydrome {

// Returns the message for a Cpus::bind() that failed. Reads errno.
inline std::string not_bound_text() {
  return std::string("a thread could not be bound to one CPU, which this phase needs: ") +
         std::strerror(errno) +
         "; if a container or another sandbox around Keydrome forbids sched_getaffinity or "
         "sched_setaffinity, allow these system calls there, or choose another benchmark instance";
}

// The CPUs that the process may use.
class Cpus {
 public:
  // Reads the CPUs of the calling thread. The player creates the object before it loads the
  // library, because the library could bind the thread. After an error of the kernel, the object
  // has no CPUs, and bind() fails.
  Cpus();

  // Binds the calling thread to the CPU of thread number `thread` of a phase. Returns false if the
  // kernel refuses, and sets errno. Thread-safe.
  bool bind(uint32_t thread) const;
  // Allows all CPUs for the calling thread again. Thread-safe.
  void release() const;

 private:
  cpu_set_t all_;
  std::vector<int> numbers_;  // ascending
  int error_ = 0;             // errno if the CPUs could not be read
};

}  // namespace keydrome
