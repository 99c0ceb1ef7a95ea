// PhaseAccount: freezes the jail between the phases of a session, and measures the time, CPU time,
// memory and performance counters of each phase.
//
// Refers to its arguments, which must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/referee/processes/jail_process.h"
#include "harness/referee/session/session_result.h"

namespace keydrome {

class PhaseAccount {
 public:
  PhaseAccount(JailProcess& jail, SessionResult& result) : jail_(jail), result_(result) {}

  // Freezes the jail after the library has been loaded, and stores its memory in the result.
  void begin();

  // Lets the threads of the jail run for the next phase. Returns why the session stopped, or nothing
  // if it continues.
  std::optional<Stopped> thaw(const std::string& phase);

  // Freezes the jail and stops the clock of the phase, which started at `start_ns`. The clock stops
  // only when the jail is frozen, because a thread of the library may stay in the kernel and work
  // there after DONE. Sets all measurements of `phase`. REQUIRES: its name is set.
  void stop_clock(uint64_t start_ns, PhaseResult& phase);

 private:
  bool freeze_after(const std::string& step, JailUsage* usage);
  void take_over(const JailUsage& usage);

  JailProcess& jail_;
  SessionResult& result_;
  JailUsage usage_;  // as of the end of the last step
};

}  // namespace keydrome
