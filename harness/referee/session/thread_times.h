// Reads the CPU time of each thread of the player (the jailed process that runs the library) from
// /proc, outside the jail (sandbox).
//
// The first thread of a process is its leader: its thread id is the process id. Between phases the
// leader is the player's only thread, because it has joined the threads that made the calls. Any
// other thread that exists then belongs to the library.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>

namespace keydrome {

// CPU time in nanoseconds, by thread id.
using ThreadTimes = std::map<pid_t, uint64_t>;

// Returns the CPU times of the threads of `process` that have not begun to exit. Returns nothing if
// the kernel does not show the threads. The times are exact while the threads are frozen. Otherwise
// a time may lack what the thread used since the last scheduler tick. Costs some 20 us for each
// thread.
std::optional<ThreadTimes> read_thread_times(pid_t process);

// What the threads of a process did between two readings.
struct ThreadUse {
  uint64_t living_us = 0;        // CPU time of the threads in the second reading
  uint64_t library_us = 0;       // the part of living_us that is not the leader's
  uint32_t library_ended = 0;    // threads of the library that only the first reading has
  uint32_t library_threads = 0;  // threads of the library that at least one reading has
};

// What the scheduler counts for a thread since its start.
struct ThreadSchedule {
  bool ready = false;      // the thread runs, or is ready to run
  uint64_t cpu_ns = 0;     // CPU time
  uint64_t waited_ns = 0;  // time for which it was ready but did not run, in waits that ended
  uint64_t turns = 0;      // how often it got a processor
  auto operator<=>(const ThreadSchedule&) const = default;
};

// By thread id.
using ThreadSchedules = std::map<pid_t, ThreadSchedule>;

// Returns the threads of `process`; none if it does not exist. Costs some 20 us for each thread.
ThreadSchedules read_thread_schedules(pid_t process);

// Returns the CPU time of all threads of a process, including threads that have exited. Returns 0
// if there is no such process.
uint64_t process_cpu_ns(pid_t process);

// How busy the processors are on which this process may run.
struct ProcessorUse {
  // Busy time since the machine started, summed over the processors. Includes stolen time, which a
  // hypervisor gave to other virtual machines.
  uint64_t busy_ns = 0;
  uint32_t processors = 0;
};

// Reads /proc/stat, which counts in steps of 10 ms. Returns zeros if it cannot be read.
ProcessorUse read_processor_use();

// Computes what the threads did between two readings. `leader` is the id of the leader.
ThreadUse thread_use(pid_t leader, const ThreadTimes& before, const ThreadTimes& after);

}  // namespace keydrome
