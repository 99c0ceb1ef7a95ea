// PhaseAccount: freezes the jail, the sandbox of the library under test, between the phases of a
// session (one repetition of a benchmark). Otherwise the library could work between phases, where
// nothing is measured. Measures the time, CPU time, memory and performance counters of loading and
// of each phase, and the CPU time of each thread.
//
// Borrows its arguments, which must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/referee/processes/jail_process.h"
#include "harness/referee/session/kernel_threads.h"
#include "harness/referee/session/session_result.h"
#include "harness/referee/session/thread_times.h"

namespace keydrome {

class PhaseAccount {
 public:
  PhaseAccount(JailProcess& jail, SessionResult& result) : jail_(jail), result_(result) {}

  // Notes what the jail has used so far. Call it before the command to load the library is sent to
  // the player, the process in the jail. All memory that is allocated later counts as the
  // library's, even memory that its constructors allocate.
  void begin_loading();

  // Freezes the jail after the library has been loaded, and stores what loading used.
  void begin();

  // Reads the CPU times of the kernel's own threads. Call it just before the clock of a phase
  // starts.
  void before_clock();

  // Lets the threads of the jail run for the next phase. Returns why the session stopped, or
  // nothing if the session continues.
  std::optional<Stopped> thaw(const std::string& phase);

  // Freezes the jail and stops the clock of the phase, which started at `start_ns`. The clock stops
  // only when the jail is frozen. Even after DONE, the player's message that ends the phase, a
  // thread of the library may stay in the kernel and work there. Sets all measurements of `phase`.
  // REQUIRES: phase.name is set.
  void stop_clock(uint64_t start_ns, PhaseResult& phase);

  // Adds to the last phase the CPU time that the kernel accounted late.
  void end();

  // Returns the process id of the player, or 0 if it is unknown.
  pid_t player() const { return player_; }

 private:
  bool freeze_after(const std::string& step, JailUsage* usage);
  void take_over(const JailUsage& usage);
  void add_threads(PhaseResult& phase);
  void add_kernel_threads(PhaseResult& phase) const;

  JailProcess& jail_;
  SessionResult& result_;
  JailUsage usage_;                     // as of the end of the last step
  uint64_t loading_ns_ = 0;             // when loading began
  pid_t player_ = 0;                    // process id; 0: unknown
  std::optional<ThreadTimes> threads_;  // as of the last freeze; nothing if it failed
  const KernelThreads& kernel_threads_ = KernelThreads::found();
  KernelThreads::Times kernel_before_us_;  // as of before_clock()
};

}  // namespace keydrome
