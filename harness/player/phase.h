// Plays one phase of a session: plays each program in its own thread, gives the threads their
// rounds of operations, and fills the outcome.
//
// A program is the list of operations of one thread. A round is one portion of the programs of all
// threads. The outcome is shared memory for counters, results and logs.
//
// All of this work happens between the referee's messages GO and DONE, so it counts in the phase's
// time. A thread that waits for a round sleeps, so that it takes no CPU time from the other
// threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/thread_annotations.h"
#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/format/piece.h"
#include "benchmarks/kit/player/event_clock.h"
#include "benchmarks/kit/player/index_api.h"
#include "benchmarks/kit/player/index_names.h"
#include "benchmarks/kit/player/interpreter.h"
#include "benchmarks/kit/player/pools_view.h"
#include "benchmarks/kit/player/signals.h"
#include "benchmarks/kit/player/turns.h"
#include "harness/player/mapping.h"
#include "harness/player/referee_channel.h"

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
  const player::PoolsView* pools = nullptr;
  player::IndexNames* names = nullptr;
  player::RetryBudget* retry_budget = nullptr;
  const TickClock* clock = nullptr;
  uint64_t go_ticks = 0;                      // time at which the process received GO
  player::EventClock* event_clock = nullptr;  // nullptr if the phase is not recorded
};

class Phase {
 public:
  Phase(RefereeChannel& channel, const PhaseInputs& inputs);

  // Plays the programs of all threads and sends DONE. `round` is round 0; play() receives the later
  // rounds over the channel. After an error play() sends a DONE with the reason and does not
  // return; the referee then ends the jail.
  void play(PhaseId phase, Mapping round, Mapping outcome);

 private:
  struct Round {
    explicit Round(Mapping mapped);
    Mapping mapping;
    const format::RoundHeader* header;
    std::span<const std::byte> piece(uint32_t thread) const;
  };

  void run_thread(uint32_t thread);
  void play_unrecorded(uint32_t thread);
  void play_recorded(uint32_t thread);
  void play_rounds(player::Interpreter& interpreter, format::ThreadOutcome& outcome,
                   uint32_t thread);
  player::InterpreterInputs interpreter_inputs(uint32_t thread);
  const Round& enter(uint32_t number);
  void add_round(Mapping mapping);
  bool has_last_round();
  void receive_rounds();
  [[noreturn]] void give_up(DoneStatus status, std::string_view reason);

  RefereeChannel& channel_;
  const PhaseInputs inputs_;
  PhaseId phase_id_;
  Mapping outcome_;
  player::Signals signals_;
  player::Turns turns_;

  Mutex mutex_;
  Condition arrived_;
  std::vector<std::unique_ptr<Round>> rounds_ KEYDROME_GUARDED_BY(mutex_);
  uint32_t entered_ KEYDROME_GUARDED_BY(mutex_) = 0;  // rounds that at least one thread has entered
};

}  // namespace keydrome
