// Partner: the processes that play one session (one repetition of a benchmark), and the referee's
// channel to them. The referee is the trusted process that runs the session.
//
// A plain Partner has one process, the player in its jail (sandbox). The player runs the library
// and executes the programs (lists of operations). In verified mode the object is a VerifiedPartner
// (verified_partner.h): the driver executes the programs outside the jail, and the player only
// makes the driver's calls. The conductor, which plays the session (conductor.h), uses the same
// interface for both modes.
//
// Each wait ends at its deadline or at a limit of the session, whichever comes first. Not
// thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/referee/hang/phase_watch.h"
#include "harness/referee/memory/session_memory.h"
#include "harness/referee/processes/jail_process.h"
#include "harness/referee/session/session_limits.h"
#include "harness/referee/session/session_result.h"
#include "harness/referee/session/starvation.h"

namespace keydrome {

class Partner {
 public:
  // Returns the partner for the mode of `options`, and borrows `options`. `threads_max` is the
  // largest number of threads of a phase. The session's wall time starts at this call.
  static std::unique_ptr<Partner> create(const JailOptions& options, uint32_t threads_max);

  explicit Partner(const JailOptions& options);
  virtual ~Partner() = default;
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  // Starts the processes and waits until each process has sent the message HELLO
  // (harness/protocol.h). The process that plays the programs receives the descriptors in `memory`
  // later, with the message LOAD.
  virtual std::optional<Stopped> start(const SharedMemory& memory);

  // Waits for a message of type `type` from the process whose turn it is (in verified mode, the
  // player or the driver). Returns std::nullopt if the message has arrived, and otherwise why the
  // session stopped. Any other message is a violation of the protocol. If `or_done` is true, the
  // message DONE (the phase has ended) is also accepted, unless it reports an error. `what`
  // completes the text "while the referee waited for `what`".
  std::optional<Stopped> expect(Message& message, MessageType type, uint64_t deadline_ns,
                                const std::string& what, bool or_done = false);

  // Each send function returns false if the receiver has exited or does not read.
  virtual bool send_load(const Message& load);
  virtual bool send_go(const Message& go, uint32_t threads);
  // Returns true if the programs are played in the jail. They then stop while the jail is frozen.
  virtual bool plays_in_jail() const { return true; }

  // Called after a process has sent DONE, which ends a phase. Returns true if the player must still
  // send its own DONE for this phase.
  virtual bool must_finish(uint64_t /*nonce*/) { return false; }
  // Returns true if the last message came from the driver. A failure of the driver is never the
  // library's fault.
  virtual bool driver_spoke() const { return false; }
  // The call slots of verified mode; empty in other modes.
  virtual std::span<const std::byte> call_slots() const { return {}; }

  // While `watch` is set, each wait samples the threads' progress. nullptr means that no phase
  // runs. At the beginning of a phase, waits poll for a moment before they sleep.
  void set_watch(PhaseWatch* watch);
  // Called before the clock of a phase starts. From this call on, the object measures for how long
  // other programs keep the session's threads from the processors (starvation.h).
  void begin_step();
  // Called when the session has stopped for this reason. If other programs kept the session from
  // the processors for so long that a time limit may have ended it, returns a sentence that says
  // so. Otherwise returns "".
  std::string starved(StopReason reason);
  // nullptr before start(), or if the jail could not be started.
  JailProcess* jail() { return jail_ ? &*jail_ : nullptr; }
  uint64_t load_deadline_ns() const;
  // Returns the jail's limit of threads and processes; 0: the jail's default.
  uint64_t processes_max() const { return options_.processes; }

 protected:
  // Waits for one message without checking limits or sampling the threads.
  virtual JailProcess::Event receive(Message& message, uint64_t deadline_ns);
  // Returns the ids of the processes that work for the session: the referee, the player and, in
  // verified mode, the driver. The processes of the jail itself only wait, so they are left out. An
  // id is 0 if the process does not exist.
  virtual std::vector<pid_t> processes() const;
  // Returns true if the last message came from the process whose turn it is.
  virtual bool in_turn() const { return true; }
  const JailOptions& options() const { return options_; }
  const SharedMemory& memory() const { return memory_; }
  uint64_t busy_until_ns() const { return busy_until_ns_; }

 private:
  JailProcess::Event wait(Message& message, uint64_t deadline_ns);

  const JailOptions& options_;
  SessionLimits limits_;
  std::string limit_reached_;  // the limit that ended the last wait(), or ""
  Starvation starvation_;
  PhaseWatch* watch_ = nullptr;
  uint64_t busy_until_ns_ = 0;
  SharedMemory memory_;
  std::optional<JailProcess> jail_;
};

}  // namespace keydrome
