// What the kernel says about the threads of the player, read from /proc outside of the jail.
//
// The texts are the kernel's own; nothing that the process wrote (its memory, its names) is read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace keydrome {

struct ThreadFacts {
  pid_t outside = 0;    // thread id as the referee sees it
  uint32_t inside = 0;  // as the thread itself does
  char state = '?';     // R: runs or could, S: sleeps, ... (proc_pid_stat(5))
  uint64_t cpu_ms = 0;
  std::string waits_in = {};  // the system call, such as "futex"; empty: none, or not known
  // Of a futex: the word, and whether it waits without a limit; 0 for other calls.
  uint64_t futex = 0;
  bool endless = false;
};

// The program of a jail: the child of its child. 0 when there is none, or none can be seen.
pid_t program_of(pid_t jail);

// All threads of a process; empty when it is gone or cannot be seen.
std::vector<ThreadFacts> thread_facts(pid_t process);

}  // namespace keydrome
