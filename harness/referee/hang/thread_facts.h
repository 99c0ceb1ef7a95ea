// Reads what the kernel knows about the threads of the player (the jailed, untrusted process that
// runs the library). The referee, the trusted process, uses /proc outside the jail (sandbox).
//
// The functions use only values that the kernel reports, and nothing that the player can write,
// such as its memory or its threads' names. The player can influence only which system calls are
// shown, and their arguments.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace keydrome {

struct ThreadFacts {
  pid_t outside = 0;    // thread id in the referee's PID namespace
  uint32_t inside = 0;  // thread id in the jail's PID namespace
  char state = '?';     // R: runs or is ready to run, S: sleeps, ... (proc_pid_stat(5))
  bool ending = false;  // the kernel is ending the thread, or has ended it
  uint64_t cpu_ms = 0;
  std::string waits_in = {};  // the system call, such as "futex"; empty: not in a call, or unknown
  uint64_t futex = 0;         // address of the futex that the thread waits on; 0 in other calls
  bool endless = false;       // the thread waits on the futex without a time limit
};

// Returns the process id of the player, or 0 if the player does not exist or is not visible. The
// process `jail` has one child, the jail's init process. The player is the only child of init.
pid_t program_of(pid_t jail);

// Returns all threads of a process, or an empty list if the process does not exist or is not
// visible.
std::vector<ThreadFacts> thread_facts(pid_t process);

// Returns true if the process has ended or the kernel is ending all its threads. If a process dies,
// the kernel marks all its threads as ending before it closes the process's descriptors. So the
// result is true if a socket was closed by the death of `process`. Returns false if `process` is 0.
bool is_ending(pid_t process);

// Returns how many descriptors a process has open, and how many it may have at most, as text such
// as "the library's process has 12 open file descriptors (allowed: 4096)". Returns "" if the
// process is not visible.
std::string descriptors_text(pid_t process);

}  // namespace keydrome
