// Measures for how long other programs of the machine kept a session (one repetition of a
// benchmark) from its processors.
//
// A thread that is ready to run waits while its processor runs another thread. The kernel counts
// this waiting (the second field of /proc/PID/task/TID/schedstat). While a thread waits, its
// processor runs a thread of the session or one of another program. Let a thread wait for the time
// W, while all other threads of the session together use the CPU time C. Then threads of other
// programs kept this thread waiting for at least W - C. A library cannot raise this value: if it
// starts many threads that compute, they wait for each other, but they also use CPU time. A thread
// that sleeps or waits for a lock is not ready to run, so it does not count.
//
// A session has two or three processes. The referee runs it, and the player runs the library in the
// jail (sandbox). In verified mode the driver plays the operations outside the jail. These
// processes wait for each other's answers. So the waits of different processes can delay the
// session one after the other. Therefore the longest waits, one of each process, are added up.
//
// The value is a lower bound for each process. It is 0 on a kernel that does not count the waiting.
// It does not include time that a hypervisor takes from the machine. It is much too small if many
// threads wait for a processor one after the other, because only the longest wait of each process
// counts. So there is a second measure, the *crowd*: the processor time that other programs and the
// hypervisor used. Two conditions together show that the session is not to blame. The crowd is at
// least three quarters of all processor time. And a thread of the player or driver waited for a
// processor for at least a tenth of the time. A library cannot cause both conditions: it cannot
// make other programs busy, and a blocked thread does not wait for a processor.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/referee/session/thread_times.h"

namespace keydrome {

// After a session has reached a time limit: returns a sentence that blames other programs, if they
// kept threads waiting for `kept_ns` of `whole_ns`. Returns "" if this is less than half of the
// time, because the library is then the cause.
std::string starved_text(uint64_t kept_ns, uint64_t whole_ns);

// How crowded the machine was.
struct Crowd {
  uint64_t waited_ns = 0;    // the longest wait of a thread outside the referee for a processor
  uint64_t others_ns = 0;    // processor time of other programs
  uint64_t capacity_ns = 0;  // elapsed time, times the number of processors
};

// After a session has reached a time limit of `whole_ns`: returns sentences that blame other
// programs, if the machine was so crowded that they may be the cause. Otherwise returns "".
std::string crowded_text(const Crowd& crowd, uint64_t whole_ns);

// Follows the processes of one session from step to step. A step is the start, the loading of the
// library, or a phase. Not thread-safe.
class Starvation {
 public:
  explicit Starvation(uint64_t now_ns)
      : session_ns_(now_ns), step_ns_(now_ns), sampled_ns_(now_ns) {}

  // Begins a step that is played by these processes; process ids that are 0 are ignored.
  void begin_step(std::vector<pid_t> processes, uint64_t now_ns);

  // Reads the present counts. Call this often, because the kernel counts a wait only when the wait
  // has ended, and forgets threads that have exited. Sampling must take at most a thousandth of the
  // time. So a sample that follows too soon after an expensive one does nothing, except if `always`
  // is true.
  void sample(uint64_t now_ns, bool always = false);
  // Adds a sample with given counts, one element for each process. `cpu_ns` is the CPU time of all
  // threads since the start of the processes, including threads that have exited.
  void sample(uint64_t now_ns, const std::vector<ThreadSchedules>& schedules, uint64_t cpu_ns,
              const ProcessorUse& use = {});

  // Return for how long other programs kept the session waiting, as of the last sample: in the
  // present step, and in all steps together.
  uint64_t step_kept_ns() const;
  uint64_t session_kept_ns() const { return earlier_kept_ns_ + step_kept_ns(); }
  Crowd step_crowd() const;
  Crowd session_crowd() const;
  uint64_t step_start_ns() const { return step_ns_; }
  uint64_t session_start_ns() const { return session_ns_; }

 private:
  struct Followed {
    ThreadSchedule first;  // at the beginning of the step; zeros if the thread started later
    ThreadSchedule last;
    uint64_t same_since_ns = 0;  // time of the first sample with the counts of `last`
  };

  // Stores the present counts of a thread, and returns for how long it has waited in this step.
  uint64_t follow(Followed& thread, const ThreadSchedule& now) const;

  const uint64_t session_ns_;
  uint64_t step_ns_, sampled_ns_;
  std::vector<pid_t> processes_;
  std::map<pid_t, Followed> threads_;
  std::optional<uint64_t> first_cpu_ns_;  // of the processes, at the beginning of the step
  uint64_t next_ns_ = 0;                  // the earliest time of the next sample
  std::vector<uint64_t> kept_ns_;         // by process: the largest W - C of its threads
  uint64_t earlier_kept_ns_ = 0;          // sum over the steps before this one
  ProcessorUse first_use_;                // at the beginning of the step
  Crowd crowd_;                           // of the step
  Crowd earlier_crowd_;                   // sums over the steps before this one
};

}  // namespace keydrome
