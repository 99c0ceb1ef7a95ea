// Plays one phase of a session (one repetition of a benchmark): plays each program in its own
// thread, and fills the outcome.
//
// The code runs in the player, the jailed process that calls the library under test. In verified
// mode it runs in the driver, a process outside the jail (sandbox). A program is the list of
// operations of one thread. A thread receives its program in pieces through the ring, memory that
// the referee fills (harness/ring.h). The outcome is shared memory for counters, results and logs.
//
// All of this work counts in the phase's time, because it happens after GO and before DONE. GO is
// the referee's message that begins a phase. DONE is the player's message that ends it. A thread
// that waits for a piece sleeps, so that it takes no CPU time from the other threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/clock.h"
#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/player/event_clock.h"
#include "benchmarks/kit/player/index_api.h"
#include "benchmarks/kit/player/index_names.h"
#include "benchmarks/kit/player/interpreter.h"
#include "benchmarks/kit/player/pools_view.h"
#include "benchmarks/kit/player/signals.h"
#include "benchmarks/kit/player/turns.h"
#include "harness/player/pinning.h"
#include "harness/player/referee_channel.h"
#include "harness/player/ring_view.h"

namespace keydrome {

// Functions that each thread calls before its first and after its last library call. They may be
// empty.
struct ThreadHooks {
  std::function<void(uint32_t thread)> before, after;
};

// Inputs of one phase. The objects that the pointers refer to must outlive the phase.
struct PhaseInputs {
  const player::IndexApi* api = nullptr;
  ThreadHooks hooks;
  const RingView* ring = nullptr;
  std::span<std::byte> outcome;
  const player::PoolsView* pools = nullptr;
  player::IndexNames* names = nullptr;
  player::RetryBudget* retry_budget = nullptr;
  const TickClock* clock = nullptr;
  uint64_t go_ticks = 0;                      // time at which the process received GO
  player::EventClock* event_clock = nullptr;  // makes timestamps; nullptr if calls are not logged
  const Cpus* pins = nullptr;                 // binds each thread to one CPU; nullptr: binds none
};

class Phase {
 public:
  Phase(RefereeChannel& channel, PhaseId phase, const PhaseInputs& inputs)
      : channel_(channel), phase_id_(phase), inputs_(inputs) {}

  // Plays the programs of all threads and sends DONE. The calling thread plays thread 0. After an
  // error play() sends a DONE with the reason and does not return; the referee then ends the jail.
  void play();

 private:
  const format::OutcomeHeader& header() const {
    return *reinterpret_cast<const format::OutcomeHeader*>(inputs_.outcome.data());
  }
  void run_thread(uint32_t thread);
  void play_unrecorded(uint32_t thread);
  void play_recorded(uint32_t thread);
  void play_pieces(player::Interpreter& interpreter, format::ThreadOutcome& outcome,
                   uint32_t thread);
  player::InterpreterInputs interpreter_inputs(uint32_t thread);
  [[noreturn]] void give_up(DoneStatus status, std::string_view reason);

  RefereeChannel& channel_;
  const PhaseId phase_id_;
  const PhaseInputs inputs_;
  player::Signals signals_;
  player::Turns turns_;
};

}  // namespace keydrome
